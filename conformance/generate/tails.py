"""Cases of the tail and of the footer's block: TAIL, OPN."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from . import base
from .catalog import Catalog, fault
from .message import canonical
from .output import Built, Output, build
from .raw import patch, seal_block, tail, u32


def tails(cat: Catalog) -> None:
    """OPN-2, 1 to 5."""
    for paired in (False, True):
        built = build(base.small(paired=paired))
        role, more = built.index, "-paired" if paired else ""
        whole = built.files[role]
        size, at = len(whole), built.tail

        def case(name: str, title: str, new: bytes, code: str, offset: int, row: int, built: Built = built,
                 role: str = role, more: str = more) -> None:  # fmt: skip
            cat.refused(f"opn-2-{row}-{name}{more}", "OPN-2 TAIL-1", title, {**built.files, role: new},
                        fault(code, role, offset))  # fmt: skip

        for cut in (1, 8, 24, 25, size - 64 - 23, size - 64 - 24, size - 64):
            title = f"{cut} bytes are missing at the end"
            case(f"cut-{cut}", title, whole[:-cut], "unfinished", size - cut, 1)
        case("byte-after", "a byte after the tail", whole + b"\0", "unfinished", size + 1, 1)
        case("zeros-after", "a page of zeros after the tail", whole + bytes(4096), "unfinished", size + 4096, 1)
        case(
            "file-magic",
            "the file's magic in place of the tail's",
            patch(whole, at + 16, whole[:8]),
            "unfinished",
            size,
            1,
        )
        case(
            "magic-byte", "one byte of the tail's magic is wrong", patch(whole, size - 1, b"\0"), "unfinished", size, 1
        )
        only = whole[:64] + whole[at:][8:]
        case(
            "no-room", "a file that ends like a tail, with less than 24 bytes for it", only, "unfinished", len(only), 1
        )
        case("checksum", "the tail's checksum does not match", patch(whole, at + 12, u32(7)), "checksum", at, 2)
        case("flip-offset", "the tail's footer_offset is damaged", patch(whole, at + 7, b"\x01"), "checksum", at, 2)
        footer, stored = built.footer, at - built.footer - 24
        index = built.files[role]
        message = int.from_bytes(index[footer : footer + 4], "little")
        wrongs = [
            ("offset-0", 0, message), ("offset-56", 56, message), ("offset-odd", footer + 4, message - 4),
            ("offset-wraps", (1 << 64) - 24, at), ("offset-most", (1 << 64) - 1, message),
            ("offset-after", at, message), ("size-less", footer, stored - 8), ("size-more", footer, stored + 8),
            ("size-most", footer, 0xFFFFFFFF), ("offset-of-region", built.messages[-1], message),
        ]  # fmt: skip
        for name, offset, length in wrongs:
            case(
                name,
                f"the tail leads elsewhere: {name}",
                whole[:at] + tail(offset, length),
                "inconsistent-index",
                at,
                3,
            )
        leads = whole[:at] + tail(built.messages[-1], at - built.messages[-1] - 24)
        case("region-not-footer", "the tail leads to a region message", leads, "malformed-block",
             built.messages[-1] + 16, 4)  # fmt: skip
        both = whole[:at] + tail(3, 3, checksum_xor=1)
        case("order-2-3", "the tail leads elsewhere and its checksum does not match", both, "checksum", at, 2)
    output = base.small()
    built = build(output)
    whole, at = built.files["single"], built.footer
    rows: list[tuple[str, dict[str, Any], str, int]] = [
        ("02-stored-size", {"stored_size": 0xFFFF}, "malformed-block", 0), ("04-checksum", {"checksum_xor": 1}, "checksum", 0),
        ("05-reserved", {"reserved": 1}, "malformed-block", 18), ("06a-kind", {"kind": 131}, "unsupported-feature", 16),
        ("06a-kind-191", {"kind": 191}, "unsupported-feature", 16), ("06b-region", {"kind": 128}, "malformed-block", 16),
        ("06b-schema", {"kind": 130}, "malformed-block", 16), ("06b-skippable", {"kind": 192}, "malformed-block", 16),
        ("06b-data", {"kind": 0}, "malformed-block", 16), ("07a-codec", {"codec": 9}, "unsupported-codec", 17),
        ("07b-codec", {"codec": 1, "plain_size": 4000}, "malformed-block", 17),
        ("08a-plain", {"plain_size": 1}, "malformed-block", 4), ("09-partition", {"partition": 0}, "inconsistent-index", 8),
    ]  # fmt: skip
    for name, fields, code, offset in rows:
        clause = "OPN-2 BLK-7" + (" BLK-5" if "codec" in name else "") + (" BLK-4" if "partition" in name else "")
        other = build(replace(output, footer_block=fields))
        cat.refused(f"opn-2-4-footer-{name}", clause, f"the footer block fails check {name[:2]}", other.files,
                    fault(code, "single", at + offset))  # fmt: skip
    # Canonical messages fill their blocks; three zero bytes after one are valid, and leave five bytes of padding.
    built = build(replace(output, encode_footer=lambda fields: canonical("Footer", fields) + bytes(3)))
    padded = patch(built.files["single"], built.tail - 1, b"\x01")
    cat.refused("opn-2-4-footer-11-padding", "OPN-2 BLK-7 BLK-1", "the footer's padding is not zero", {"single": padded},
                fault("malformed-block", "single", built.tail - 1))  # fmt: skip
    shorter = built.files["single"]
    size = _stored(built)
    shorter = seal_block(patch(shorter, built.footer, u32(size - 1) + u32(size - 1)), built.footer, size - 1)
    cat.refused("opn-2-5-footer-size", "OPN-2", "the footer block is a byte shorter than the tail says", {"single": shorter},
                fault("inconsistent-index", "single", built.footer))  # fmt: skip
    small = len(canonical("Footer", build(base.small()).footer_fields))
    cat.valid("lim-1-message-at", "LIM-1", "max_message_size is exactly the footer's", base.small(),
              request={"limits": {"max_message_size": max(small, largest_message(base.small()))}})  # fmt: skip
    cat.refused("opn-2-4-footer-limit", "OPN-2 LIM-1 BLK-7", "the footer is above max_message_size",
                build(base.small()).files, fault("limit-exceeded", "single", at),
                request={"limits": {"max_message_size": small - 1}})  # fmt: skip
    cat.valid(
        "lim-1-regions-at", "LIM-1", "max_regions is exactly enough", output, request={"limits": {"max_regions": 2}}
    )
    cat.refused("opn-2-7-regions", "OPN-2 LIM-1", "one region more than max_regions", build(output).files,
                fault("limit-exceeded", "single", at + 24), request={"limits": {"max_regions": 1}})  # fmt: skip


def _stored(built: Built) -> int:
    return int.from_bytes(built.files[built.index][built.footer : built.footer + 4], "little")


def largest_message(output: Output) -> int:
    """The size of an output's largest region message."""
    return max(len(canonical("Region", fields)) for fields in build(output).fields)


def add(cat: Catalog) -> None:
    """All of them."""
    tails(cat)
