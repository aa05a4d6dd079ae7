"""Health is looked at on real parts: a Docker engine, git remotes, file systems that are full."""

from __future__ import annotations

from docker_engine import docker, docker_engine

__all__ = ["docker", "docker_engine"]
