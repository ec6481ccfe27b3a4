from __future__ import annotations

import flatbuffers
import numpy as np

import typing

uoffset: typing.TypeAlias = flatbuffers.number_types.UOffsetTFlags.py_type

class FragmentEnd(object):
  @classmethod
  def SizeOf(cls) -> int: ...

  def Init(self, buf: bytes, pos: int) -> None: ...
  def Length(self) -> int: ...
  def Blocks(self) -> int: ...
  def Flags(self) -> int: ...

def CreateFragmentEnd(builder: flatbuffers.Builder, length: int, blocks: int, flags: int) -> uoffset: ...

