"""Races: several processes create, overwrite, finish, abort and read outputs of one name at the same time."""
