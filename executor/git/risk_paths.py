"""Files that are known by name for what a change of them can do: a table that a reviewer reads on one screen (pure).

Patterns are shell globs, in lower case, that match in any case. Without a slash a pattern is for the file's name;
with one it is for directories and names anywhere in the tree, or from its top where it begins with the slash. `*`
also runs over slashes. A pattern after `!` takes back what the others matched.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from fnmatch import translate
from typing import NamedTuple


class NamedFiles(NamedTuple):
    """One row: files of the same effect. `severity` is a value of `risk_facts.Severity`."""

    kind: str
    severity: str
    words: str
    patterns: str


NAMED = (
    NamedFiles(
        "ci",
        "danger",
        "changes what CI runs, with the secrets that CI has",
        """
        /.github/workflows/* /.github/actions/* /.gitea/workflows/* /.forgejo/workflows/* /.gitlab/ci/*
        /.circleci/* /.buildkite/* /.woodpecker/* /.tekton/* /.azure-pipelines/* /.azuredevops/* action.yml
        action.yaml .gitlab-ci*.yml .gitlab-ci*.yaml jenkinsfile jenkinsfile.* azure-pipelines*.yml
        azure-pipelines*.yaml .azure-pipelines*.yml bitbucket-pipelines.yml .drone.y*ml .drone.jsonnet
        .drone.star .travis.y*ml .woodpecker.y*ml .cirrus.y*ml .cirrus.star appveyor.y*ml .appveyor.y*ml
        cloudbuild.y*ml buildspec.y*ml codemagic.y*ml .pre-commit-config.yaml .semaphore/* .teamcity/*
        """,
    ),
    NamedFiles(
        "keys",
        "danger",
        "files that by their name hold private keys or credentials",
        """
        *.pem *.key *.p12 *.pfx *.jks *.keystore *.kdbx *.ppk *.asc *.gpg *.ovpn id_rsa id_dsa id_ecdsa
        id_ecdsa_sk id_ed25519 id_ed25519_sk .netrc .pgpass .htpasswd .npmrc .pypirc .git-credentials
        .dockercfg auth.json service-account*.json service_account*.json serviceaccount*.json
        credentials*.json .aws/credentials kubeconfig *.tfstate *.tfstate.backup secret.y*ml secrets.y*ml
        secrets.json secrets.toml wp-config.php
        """,
    ),
    NamedFiles(
        "environment",
        "danger",
        "environment files, which usually hold secrets",
        ".env .env.* .envrc *.env !.env.example !.env.sample !.env.dist !.env.template !.env.default !.env.defaults",
    ),
    NamedFiles(
        "environment-example",
        "note",
        "examples of environment files; look for values that are no examples",
        ".env.example .env.sample .env.dist .env.template .env.default .env.defaults",
    ),
    NamedFiles(
        "git",
        "danger",
        "changes how git treats files: filters, merges, submodules",
        ".gitattributes .gitmodules .lfsconfig",
    ),
    NamedFiles("ownership", "warning", "changes who has to review", "codeowners /.github/settings.yml"),
    NamedFiles(
        "migrations",
        "warning",
        "database migrations, which run when this is deployed",
        """
        database/migrations/*.php migrations/*.py migrations/*.sql migrations/*.php migrations/*.js
        migrations/*.ts db/migrate/*.rb db/schema.rb db/structure.sql alembic/versions/*.py
        prisma/migrations/* schema.prisma priv/repo/migrations/*.exs db/changelog/* db/migration/*
        v[0-9]*__*.sql u[0-9]*__*.sql r__*.sql !migrations/__init__.py
        """,
    ),
    NamedFiles(
        "deployment",
        "warning",
        "changes how this is built, deployed or run",
        """
        dockerfile dockerfile.* *.dockerfile containerfile docker-compose*.y*ml compose.y*ml compose.*.y*ml
        .dockerignore makefile gnumakefile *.mk justfile procfile vagrantfile capfile fastfile
        envoy.blade.php deploy*.sh deploy*.php deploy*.y*ml deploy*.py deploy*.rb deploy/* deployment/*
        deployments/* /bin/* k8s/* kubernetes/* helm/* chart.yaml kustomization.yaml skaffold.yaml ansible/*
        terraform/* *.tf *.tfvars *.service *.timer fly.toml netlify.toml wrangler.toml render.yaml
        railway.json vercel.json firebase.json app.yaml serverless.y*ml .husky/* .githooks/* .devcontainer/*
        .vscode/tasks.json .vscode/settings.json
        """,
    ),
    NamedFiles(
        "lock-files",
        "warning",
        "lock files: which versions of other people's code are installed",
        """
        package-lock.json npm-shrinkwrap.json yarn.lock pnpm-lock.yaml bun.lock bun.lockb composer.lock
        gemfile.lock podfile.lock pipfile.lock poetry.lock uv.lock pdm.lock pixi.lock conda-lock.y*ml
        cargo.lock go.sum mix.lock rebar.lock pubspec.lock packages.lock.json paket.lock gradle.lockfile
        package.resolved cartfile.resolved flake.lock deno.lock .terraform.lock.hcl chart.lock
        stack.yaml.lock conan.lock renv.lock module.bazel.lock shard.lock pylock.toml
        """,
    ),
    NamedFiles(
        "dependencies",
        "warning",
        "dependencies, or scripts that run when they are installed",
        """
        package.json composer.json gemfile *.gemspec podfile pipfile pyproject.toml setup.py setup.cfg
        requirements*.txt requirements*.in *-requirements.txt requirements/*.txt environment.y*ml cargo.toml
        build.rs go.mod go.work mix.exs pubspec.yaml *.csproj *.fsproj *.vbproj nuget.config
        directory.build.props directory.packages.props packages.config pom.xml build.gradle build.gradle.kts
        settings.gradle settings.gradle.kts libs.versions.toml gradle-wrapper.* build.sbt package.swift
        flake.nix deno.json deno.jsonc conanfile.py conanfile.txt vcpkg.json pnpm-workspace.yaml .yarnrc
        .yarnrc.yml
        """,
    ),
    NamedFiles(
        "agent-instructions",
        "note",
        "instructions that agents follow",
        "agents.md claude.md gemini.md copilot-instructions.md .cursorrules .mcp.json .cursor/* .claude/*",
    ),
)


def matcher(patterns: str) -> re.Pattern[str]:
    """Return one regular expression for the whole list of patterns; it is to be searched in `/` + path."""
    words = patterns.split()
    taken_back = [word[1:] for word in words if word.startswith("!")]
    wanted = _any(word for word in words if not word.startswith("!"))
    return re.compile(f"(?!{_any(taken_back)}){wanted}" if taken_back else wanted, re.I)


def _any(words: Iterable[str]) -> str:
    return "(?:" + "|".join(_one(word) for word in words) + ")"


def _one(word: str) -> str:
    if word.startswith("/"):
        return translate(word)
    name_only = "/" not in word
    # a name's `*` could run over a slash: the name is bound to the last component by a look ahead
    return f"(?:.*/)(?=[^/]*\\Z){translate(word)}" if name_only else f"(?:.*/){translate(word)}"
