#!/usr/bin/env bash
# Run a command beside a Slurm of one node, on the loopback address and in a scratch folder; needs root, slurm-wlm, munge.
#   tests/cluster/slurm.sh python -m experiments.run -m ... hydra/launcher=slurm
set -euo pipefail
home=$(mktemp -d /tmp/slurm.XXXXXX)
port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
stop() {
  scancel --full --user="$(id -un)" 2>/dev/null || true
  for daemon in slurmd slurmctld munged; do
    if [ -s "$home/$daemon.pid" ]; then kill "$(cat "$home/$daemon.pid")" || true; fi
  done
  # They still write while they stop.
  for _ in $(seq 20); do
    if rm -rf "$home" 2>/dev/null; then break; fi
    sleep 0.5
  done
}
trap stop EXIT

mkdir "$home/state" "$home/spool"
dd if=/dev/urandom of="$home/munge.key" bs=1024 count=1 status=none
chmod 0400 "$home/munge.key"
chmod 0755 "$home"
munged --force --key-file="$home/munge.key" --socket="$home/munge.socket" --pid-file="$home/munged.pid" \
  --log-file="$home/munged.log" --seed-file="$home/munge.seed"

cat >"$home/slurm.conf" <<CONF
ClusterName=one
SlurmctldHost=localhost(127.0.0.1)
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=$home/munge.socket
SlurmctldPort=$(port)
SlurmdPort=$(port)
SlurmctldPidFile=$home/slurmctld.pid
SlurmdPidFile=$home/slurmd.pid
SlurmctldLogFile=$home/slurmctld.log
SlurmdLogFile=$home/slurmd.log
StateSaveLocation=$home/state
SlurmdSpoolDir=$home/spool
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
MpiDefault=none
SlurmdParameters=config_overrides
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
NodeName=localhost NodeAddr=127.0.0.1 CPUs=2 State=UNKNOWN
PartitionName=all Nodes=localhost Default=YES MaxTime=INFINITE State=UP
CONF
export SLURM_CONF="$home/slurm.conf"
slurmctld
slurmd -N localhost

for _ in $(seq 30); do
  if sinfo --noheader --format=%T 2>/dev/null | grep -q idle; then break; fi
  sleep 1
done
sinfo --noheader --format=%T | grep -q idle || { cat "$home"/slurm*.log >&2; exit 1; }
"$@"
