"""The fixtures."""

from conformance_fixtures import outcome_of, protocol, suite

__all__ = ["outcome_of", "protocol", "suite"]

pytest_plugins = ["pytester"]
