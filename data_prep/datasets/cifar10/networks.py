"""The network families of the CIFAR10 zoo, built from torchvision's own classes and blocks.

A network is declared in conf/dataset/cifar10.yaml as `{family: ..., <arguments of its builder below>}`: the laptop
scale lists narrow widths, the paper scale names one of torchvision's full models (`{family: vgg, model: vgg11_bn}`).
All take an image batch (B, 3, H, W) and return (B, num_outputs).
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from torch import nn

from data_prep.training.torchvision_shim import BasicConv2d, Inception, models


def build_network(declaration: dict[str, Any], num_outputs: int) -> nn.Module:
    """The network that one entry of the configuration declares, freshly initialised."""
    arguments = dict(declaration)
    family = arguments.pop("family")
    if family not in BUILDERS:
        raise ValueError(f"network family {family!r} is unknown, expected one of {sorted(BUILDERS)}")
    if "model" in arguments:
        return full_model(num_outputs=num_outputs, **arguments)
    return BUILDERS[family](num_outputs=num_outputs, **arguments)


def full_model(num_outputs: int, model: str) -> nn.Module:
    """One of torchvision's published models, untrained."""
    extra = {"aux_logits": False, "init_weights": True} if model == "googlenet" else {}
    return models.get_model(model, weights=None, num_classes=num_outputs, **extra)


def vgg(num_outputs: int, layers: Sequence[int | str]) -> nn.Module:
    """VGG's convolutions with batch norm; average pooling and one linear layer replace its 4096-wide ones."""
    widths = [width for width in layers if isinstance(width, int)]
    return _with_classifier(models.vgg.make_layers(list(layers), batch_norm=True), widths[-1], num_outputs)


def resnet(num_outputs: int, widths: Sequence[int], blocks: int = 1) -> nn.Module:
    """Basic residual blocks behind a stride-2 stem; the ResNet class itself fixes its widths at 64 to 512."""
    layers: list[nn.Module] = [_stem(widths[0])]
    width_in = widths[0]
    for stage, width in enumerate(widths):
        for block in range(blocks):
            stride = 2 if stage > 0 and block == 0 else 1
            layers.append(_basic_block(width_in, width, stride))
            width_in = width
    return _with_classifier(nn.Sequential(*layers), width_in, num_outputs)


def densenet(num_outputs: int, growth_rate: int, block_config: Sequence[int], stem_width: int) -> nn.Module:
    """torchvision's DenseNet with a 3x3 stem: the original 7x7 and its pooling leave 8x8 pixels of a 32x32 image."""
    network = models.DenseNet(
        growth_rate=growth_rate,
        block_config=tuple(block_config),
        num_init_features=stem_width,
        bn_size=2,
        num_classes=num_outputs,
    )
    network.features.conv0 = nn.Conv2d(3, stem_width, kernel_size=3, stride=2, padding=1, bias=False)
    network.features.pool0 = nn.Identity()
    return network


def googlenet(num_outputs: int, width: int, inceptions: int = 3) -> nn.Module:
    """A pooled stride-2 stem, then Inception blocks of 4 x `width` channels; the image is halved before the last."""
    inception = partial(
        Inception,
        ch1x1=width,
        ch3x3red=width,
        ch3x3=2 * width,
        ch5x5red=width // 2,
        ch5x5=width // 2,
        pool_proj=width // 2,
    )
    layers: list[nn.Module] = [
        BasicConv2d(3, 2 * width, kernel_size=3, stride=2, padding=1),
        nn.MaxPool2d(3, stride=2, padding=1),
        inception(2 * width),
        *(inception(4 * width) for _ in range(inceptions - 2)),
        nn.MaxPool2d(3, stride=2, padding=1),
        inception(4 * width),
    ]
    return _with_classifier(nn.Sequential(*layers), 4 * width, num_outputs)


def efficientnet(num_outputs: int, stages: Sequence[Sequence[int]], last_channel: int) -> nn.Module:
    """torchvision's EfficientNet; a stage is (expand ratio, kernel, stride, width in, width out, depth)."""
    setting = [models.efficientnet.MBConvConfig(*stage) for stage in stages]
    return models.EfficientNet(
        setting, dropout=0.0, stochastic_depth_prob=0.0, num_classes=num_outputs, last_channel=last_channel
    )


def mobilenet(num_outputs: int, stages: Sequence[Sequence[Any]], last_channel: int) -> nn.Module:
    """torchvision's MobileNetV3; a stage is (width in, kernel, expanded, width out, squeeze, activation, stride)."""
    config = models.mobilenetv3.InvertedResidualConfig
    setting = [config(*stage, dilation=1, width_mult=1.0) for stage in stages]
    return models.MobileNetV3(
        setting, last_channel=last_channel, num_classes=num_outputs, dropout=0.0, norm_layer=nn.BatchNorm2d
    )


def regnet(
    num_outputs: int, depths: Sequence[int], widths: Sequence[int], strides: Sequence[int], group_width: int
) -> nn.Module:
    """torchvision's RegNet (the X kind: no squeeze and excitation)."""
    stages = len(depths)
    params = models.regnet.BlockParams(
        depths=list(depths),
        widths=list(widths),
        group_widths=[group_width] * stages,
        bottleneck_multipliers=[1.0] * stages,
        strides=list(strides),
    )
    return models.RegNet(params, num_classes=num_outputs, stem_width=widths[0])


BUILDERS: dict[str, Callable[..., nn.Module]] = {
    "vgg": vgg,
    "resnet": resnet,
    "densenet": densenet,
    "googlenet": googlenet,
    "efficientnet": efficientnet,
    "mobilenet": mobilenet,
    "regnet": regnet,
}


def _stem(width: int) -> nn.Sequential:
    return nn.Sequential(
        nn.Conv2d(3, width, kernel_size=3, stride=2, padding=1, bias=False), nn.BatchNorm2d(width), nn.ReLU(True)
    )


def _basic_block(width_in: int, width: int, stride: int) -> nn.Module:
    shortcut = None
    if stride != 1 or width_in != width:
        shortcut = nn.Sequential(models.resnet.conv1x1(width_in, width, stride), nn.BatchNorm2d(width))
    return models.resnet.BasicBlock(width_in, width, stride, shortcut)


def _with_classifier(features: nn.Module, width: int, num_outputs: int) -> nn.Sequential:
    return nn.Sequential(features, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(width, num_outputs))
