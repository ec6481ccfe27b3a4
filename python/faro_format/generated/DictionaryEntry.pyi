from __future__ import annotations

import flatbuffers
import numpy as np

import typing

uoffset: typing.TypeAlias = flatbuffers.number_types.UOffsetTFlags.py_type

class DictionaryEntry(object):
  @classmethod
  def SizeOf(cls) -> int: ...

  def Init(self, buf: bytes, pos: int) -> None: ...
  def Offset(self) -> int: ...
  def Size(self) -> int: ...
  def Reserved(self) -> int: ...

def CreateDictionaryEntry(builder: flatbuffers.Builder, offset: int, size: int, reserved: int) -> uoffset: ...

