from __future__ import annotations

import flatbuffers
import numpy as np

import typing

uoffset: typing.TypeAlias = flatbuffers.number_types.UOffsetTFlags.py_type

class Run(object):
  @classmethod
  def SizeOf(cls) -> int: ...

  def Init(self, buf: bytes, pos: int) -> None: ...
  def Producer(self) -> int: ...
  def Partition(self) -> int: ...
  def Length(self) -> int: ...

def CreateRun(builder: flatbuffers.Builder, producer: int, partition: int, length: int) -> uoffset: ...

