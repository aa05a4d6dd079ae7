"""What in a change deserves a second look: told by kind, heaviest first, with examples."""

from __future__ import annotations

import pytest

from executor.git.risk_facts import (
    LARGE_BYTES,
    MANY_DELETIONS,
    PATHS_SHOWN,
    ChangedPath,
    CommitFact,
    Severity,
    leads_outside,
    risks_of_commits,
    risks_of_paths,
    skips_ci,
)


def changed(path: str, status: str = "M", old: str = "100644", new: str = "100644", **more: object) -> ChangedPath:
    return ChangedPath(path, status, old, new, **more)  # type: ignore[arg-type]


def kinds(*changes: ChangedPath) -> set[str]:
    return {fact.kind for fact in risks_of_paths(changes)}


@pytest.mark.parametrize(
    ("kind", "paths"),
    [
        ("ci", ".github/workflows/ci.yml .github/actions/x/run.sh action.yml"),
        ("ci", "sub/action.yaml .gitlab-ci.yml Jenkinsfile"),
        ("ci", "ci/Jenkinsfile.release .circleci/config.yml azure-pipelines.yml bitbucket-pipelines.yml .drone.yml"),
        ("ci", ".travis.yml .buildkite/pipeline.yml .woodpecker.yaml .woodpecker/test.yml .GitHub/Workflows/X.YML"),
        ("keys", "server.pem id_rsa home/.ssh/id_ed25519 cert.p12 app.key .netrc .npmrc auth.json .aws/credentials"),
        ("environment", ".env .env.production app/.env.local .envrc config/app.env"),
        ("environment-example", ".env.example sub/.env.dist"),
        ("git", ".gitattributes sub/.gitattributes .gitmodules .lfsconfig"),
        ("migrations", "database/migrations/2025_01_01_create.php db/migrate/1_x.rb shop/migrations/0002_auto.py"),
        ("migrations", "alembic/versions/ab12.py prisma/migrations/1/migration.sql"),
        ("migrations", "sql/V1__init.sql prisma/schema.prisma"),
        ("lock-files", "composer.lock package-lock.json yarn.lock pnpm-lock.yaml"),
        ("lock-files", "Gemfile.lock poetry.lock Cargo.lock go.sum"),
        ("lock-files", "uv.lock Pipfile.lock bun.lockb mix.lock"),
        ("lock-files", "pubspec.lock packages.lock.json Package.resolved flake.lock"),
        ("dependencies", "composer.json package.json web/package.json"),
        ("dependencies", "pyproject.toml requirements-dev.txt Gemfile go.mod"),
        ("dependencies", "requirements/base.txt pom.xml build.gradle.kts x.csproj Cargo.toml build.rs setup.py"),
        ("deployment", "Dockerfile docker/php/Dockerfile.prod docker-compose.yml"),
        ("deployment", "compose.prod.yaml Makefile deploy.sh"),
        ("deployment", "deploy/hosts.yml Procfile k8s/app.yaml"),
        ("deployment", "main.tf units/app.service .husky/pre-commit Envoy.blade.php"),
        ("agent-instructions", "AGENTS.md CLAUDE.md .cursor/rules/x.mdc .mcp.json"),
        ("ownership", "CODEOWNERS .github/CODEOWNERS"),
    ],
)  # fmt: skip
def test_a_file_is_known_by_its_name(kind: str, paths: str) -> None:
    for path in paths.split():
        assert kind in kinds(changed(path)), path


def test_ordinary_files_are_not_told() -> None:
    for path in (
        "src/app.py", "docs/deploying.md", "src/monkey.txt", "id_rsa.pub", "src/env.py", "a/migrations/__init__.py",
        "github/workflows/x.yml", "src/makefile.py", "lib/lock.py", "app/Models/Environment.php",
    ):  # fmt: skip
        assert kinds(changed(path)) == set(), path


def test_an_example_of_an_environment_file_is_milder_than_one() -> None:
    severities = {fact.kind: fact.severity for fact in risks_of_paths([changed(".env"), changed(".env.example")])}

    assert severities == {"environment": Severity.DANGER, "environment-example": Severity.NOTE}


def test_a_file_that_is_renamed_is_told_by_both_names() -> None:
    assert "ci" in kinds(changed("docs/old.yml", "R", old_path=".github/workflows/ci.yml"))
    assert "ci" in kinds(changed(".github/workflows/ci.yml", "R", old_path="docs/old.yml"))


def test_the_heaviest_facts_come_first() -> None:
    facts = risks_of_paths([changed("logo.png", "A", added=None, deleted=None), changed("Makefile"), changed(".env")])

    assert [fact.severity for fact in facts] == [Severity.DANGER, Severity.WARNING, Severity.NOTE]


@pytest.mark.parametrize(
    ("target", "outside"),
    [
        ("/etc/passwd", True),
        ("../../etc/passwd", True),
        ("../../x", True),
        ("sub/../../../x", True),
        ("../.git/config", True),
        ("../.GIT/hooks", True),
        ("../other/file", False),
        ("file", False),
        ("./a/../b", False),
        ("", False),
    ],
)
def test_a_symbolic_link_that_leads_out_of_the_tree_is_worse_than_one_inside(target: str, outside: bool) -> None:
    assert leads_outside("dir/link", target) is outside
    facts = risks_of_paths([changed("dir/link", "A", "000000", "120000", link=target)])

    assert (facts[0].kind == "links-outside") is outside
    assert facts[0].paths == (f"dir/link -> {target}",)


def test_a_deleted_link_is_no_new_link() -> None:
    assert kinds(changed("link", "D", "120000", "000000")) == {"deletions"}


def test_modes_that_change_what_a_path_is_are_told() -> None:
    assert kinds(changed("run", old="100644", new="100755")) == {"executable"}
    assert kinds(changed("run", "A", "000000", "100755")) == {"executable"}
    assert kinds(changed("run", old="100755", new="100644")) == set()
    assert kinds(changed("lib", old="160000", new="160000")) == {"submodules"}
    assert kinds(changed("lib", "T", "040000", "160000")) == {"submodules", "replaced"}


def test_binary_and_large_files_are_told() -> None:
    assert kinds(changed("a.bin", "A", "000000", added=None, deleted=None, size=10)) == {"binary"}
    assert kinds(changed("a.txt", "A", "000000", size=LARGE_BYTES + 1)) == {"large"}
    assert kinds(changed("a.bin", "D", new="000000", added=None, deleted=None)) == {"deletions"}


def test_many_deletions_weigh_more_than_one_and_are_counted_in_full() -> None:
    few = risks_of_paths([changed("a", "D", new="000000")])[0]
    many = risks_of_paths([changed(f"f{n}", "D", new="000000") for n in range(MANY_DELETIONS)])[0]

    assert (few.severity, few.count) == (Severity.NOTE, 1)
    assert (many.severity, many.count, len(many.paths)) == (Severity.WARNING, MANY_DELETIONS, PATHS_SHOWN)


def commit(**more: str | bool) -> CommitFact:
    values = {"id": "a" * 40, "author": "Ann", "email": "ann@x", "committer_email": "ann@x", "at": "", "subject": ""}
    return CommitFact(**(values | more))  # type: ignore[arg-type]


def test_authors_and_committers_other_than_the_repository_s_own_are_told() -> None:
    facts = risks_of_commits([commit(), commit(email="eve@x"), commit(committer_email="bot@x")], "ann@x")

    assert [(fact.kind, fact.paths) for fact in facts] == [("strangers", ("bot@x", "eve@x"))]
    assert risks_of_commits([commit(email="eve@x")], None) == ()


@pytest.mark.parametrize(
    "message", ["fix [skip ci]", "x\n\n[ci skip]", "[no ci] y", "a\nskip-checks: true", "***NO_CI***"]
)
def test_words_that_keep_ci_from_running_are_told(message: str) -> None:
    assert skips_ci(message)
    assert risks_of_commits([commit(skips_ci=True)], None)[0].kind == "ci-words"


def test_a_message_about_ci_keeps_it_running() -> None:
    assert not skips_ci("Do not skip CI for docs (skip ci was wrong)")
