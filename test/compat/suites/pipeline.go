package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"fugu/test/compat/sides"
)

// fetchPipeline brings PostgreSQL's libpq_pipeline from Debian's source package of the version of the libpq that
// pg_config is of, and compiles it against that.
func fetchPipeline(ctx context.Context, dir string) (runner, error) {
	major, err := libpqMajor(ctx)
	if err != nil {
		return nil, err
	}
	archive, err := sourceArchive(ctx, "postgresql-"+major)
	if err != nil {
		return nil, err
	}
	in := func(name string, args ...string) error {
		cmd := exec.CommandContext(ctx, name, args...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w\n%s", name, err, out)
		}
		return nil
	}
	if err := in("tar", "xf", archive, "--strip-components=1", "--wildcards", "*/src/test/modules/libpq_pipeline",
		"*/src/include", "*/src/port", "*/src/common", "*/src/backend/catalog"); err != nil {
		return nil, err
	}
	program := filepath.Join(dir, "libpq_pipeline")
	if err := compilePipeline(ctx, in); err != nil {
		return nil, err
	}
	out, err := exec.CommandContext(ctx, program, "tests").Output()
	if err != nil {
		return nil, fmt.Errorf("libpq_pipeline tests: %w", err)
	}
	tests := strings.Fields(string(out))
	return func(ctx context.Context, at way, p part, only []string) (results, error) {
		r := results{}
		for _, test := range tests {
			if only != nil && !slices.Contains(only, test) {
				continue
			}
			var err error
			if r[test], err = pipelineTest(ctx, program, at.doors[p.door], test); err != nil {
				return nil, err
			}
		}
		return r, nil
	}, nil
}

// compilePipeline compiles libpq_pipeline; in runs a program where its source is.
func compilePipeline(ctx context.Context, in func(name string, args ...string) error) error {
	// pg_config.h is the one that libpq was built with; what libpq does not have is in the server's libraries, which
	// Debian gives out with much else only. A libpq that is not the system's (scripts/postgres18.sh) comes with the
	// libraries that it needs, the C library and its loader among them.
	include, err := pgConfig(ctx, "--includedir")
	if err != nil {
		return err
	}
	server, err := pgConfig(ctx, "--includedir-server") // has what is generated, where the archive does not
	if err != nil {
		return err
	}
	libraries, err := pgConfig(ctx, "--libdir")
	if err != nil {
		return err
	}
	args := []string{"-O1", "-w", "-D_GNU_SOURCE", "-DFRONTEND", "-o", "libpq_pipeline",
		"src/test/modules/libpq_pipeline/libpq_pipeline.c",
		"src/port/snprintf.c", "src/port/strerror.c", "src/port/pgsleep.c", "src/common/fe_memutils.c",
		"src/common/psprintf.c", "-I" + include, "-I" + include + "/internal", "-Isrc/include", "-Isrc/backend",
		"-I" + server, "-L" + libraries, "-lpq", "-Wl,--disable-new-dtags,--allow-shlib-undefined,-rpath," + libraries}
	if loader, _ := filepath.Glob(filepath.Join(libraries, "ld-linux*.so.*")); len(loader) == 1 {
		args = append(args, "-Wl,--dynamic-linker="+loader[0])
	}
	return in("gcc", args...)
}

// traced are the tests whose order of messages is fixed, as the program's own driver t/001_libpq_pipeline.pl has them.
var traced = []string{"simple_pipeline", "nosync", "multi_pipelines", "prepared", "singlerow", "pipeline_abort",
	"pipeline_idle", "transaction", "disallowed_in_pipeline"}

// pipelineTest runs one test. Its trace, message by message with all lengths and texts, has to be the same on both
// sides.
func pipelineTest(ctx context.Context, program string, side sides.Side, test string) (result, error) {
	trace, err := os.CreateTemp("", "trace-")
	if err != nil {
		return result{}, err
	}
	defer os.Remove(trace.Name())
	defer trace.Close()
	args := []string{"-r", "700"}
	if slices.Contains(traced, test) {
		args = append(args, "-t", trace.Name())
	}
	cmd := sides.Command(ctx, program, append(args, test, side.DSN())...)
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) || ctx.Err() != nil {
		return result{}, errors.Join(err, ctx.Err())
	}
	text, readErr := os.ReadFile(trace.Name())
	r := result{outcome: "pass", output: string(out), exact: string(text)}
	if err != nil {
		r.outcome = "fail"
	}
	return r, readErr
}

// pgConfig is a line of what pg_config on PATH says.
func pgConfig(ctx context.Context, about string) (string, error) {
	out, err := exec.CommandContext(ctx, "pg_config", about).Output()
	if err != nil {
		return "", fmt.Errorf("pg_config, of libpq-dev: %w", err)
	}
	return strings.TrimSpace(string(out)), nil
}

// libpqMajor is the major version of the libpq that pg_config is of.
func libpqMajor(ctx context.Context) (string, error) {
	version, err := pgConfig(ctx, "--version")
	if err != nil {
		return "", err
	}
	m := regexp.MustCompile(`^PostgreSQL (\d+)`).FindStringSubmatch(version)
	if m == nil {
		return "", fmt.Errorf("pg_config says %q", version)
	}
	return m[1], nil
}

// sourceArchive downloads the upstream archive of a Debian source package into the user's cache, once, without touching
// the system's own list of package sources.
func sourceArchive(ctx context.Context, name string) (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(cache, "fugu", "source", name)
	find := func(dir string) string {
		for _, compression := range []string{"bz2", "xz", "gz"} {
			if found, _ := filepath.Glob(filepath.Join(dir, "*.orig.tar."+compression)); len(found) > 0 {
				return found[len(found)-1]
			}
		}
		return ""
	}
	if found := find(dir); found != "" {
		return found, nil
	}
	work, err := os.MkdirTemp("", "fugu-source-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(work)
	mirror, err := filepath.Abs("scripts/debian-mirror.sh")
	if err != nil {
		return "", err
	}
	cmd := exec.CommandContext(ctx, "sh", "-c", download, "sh", name, mirror)
	cmd.Dir = work
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("downloading the source package %s: %w\n%s", name, err, out)
	}
	got := find(work)
	if got == "" {
		return "", fmt.Errorf("the source package %s has no upstream archive", name)
	}
	content, err := os.ReadFile(got)
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	// By a rename, so that no half is left behind.
	path := filepath.Join(dir, filepath.Base(got))
	if err := os.WriteFile(path+".part", content, 0o644); err != nil {
		return "", err
	}
	return path, os.Rename(path+".part", path)
}

// download leaves the files of the source package $1 in the working directory, from this release of Debian or else from
// its testing release, by the mirror that this machine's apt takes, which the script $2 says; apt checks their
// signatures.
const download = `set -e
. /etc/os-release
mirror=$("$2")
mkdir -p lists/partial cache/archives/partial
options="-q -o Dir::Etc::sourcelist=$PWD/sources -o Dir::Etc::sourceparts=-"
options="$options -o Dir::State::lists=$PWD/lists -o Dir::Cache=$PWD/cache -o APT::Sandbox::User=$(id -un)"
for release in "$VERSION_CODENAME" testing; do
	echo "deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror $release main" >sources
	apt-get $options update
	if apt-get $options source --download-only "$1"; then exit; fi
done
exit 1
`
