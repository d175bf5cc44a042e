"""Drawing: how learners look, and panels of finished numbers as figures. Needs matplotlib."""
