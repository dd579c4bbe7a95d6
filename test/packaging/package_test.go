package packaging

import (
	"bytes"
	"debug/buildinfo"
	"debug/elf"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"fugu/test/adult"
	"fugu/test/nightly"
	"fugu/test/pgcluster"
)

// release is the version of the packages that are made here.
const release = "0.0.1"

// nfpm finds the program that packs, with its version.
var nfpm = regexp.MustCompile(`(?m)^nfpm=(\S+)$`)

// run runs a command, which succeeds, and returns what it wrote.
func run(t *testing.T, env []string, name string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Env = append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %q: %v\n%s", name, args, err, out)
	}
	return string(out)
}

// made makes the package from a copy of the working tree, and returns the directory of what came of it.
func made(t *testing.T, at string, env ...string) string {
	t.Helper()
	if err := os.MkdirAll(at, 0o755); err != nil {
		t.Fatal(err)
	}
	run(t, nil, "bash", "-c", `cd "$0" && git ls-files -z --cached --others --exclude-standard --deduplicate |
		tar -c --null -T - --ignore-failed-read 2> /dev/null | tar -x -C "$1"`, root, at)
	run(t, append(env, "SOURCE_DATE_EPOCH=1700000000"), filepath.Join(at, "scripts/package.sh"), release)
	return filepath.Join(at, "build")
}

// By night: the package is the same bytes from two directories, with no compiled object in common; its bill and its
// dependencies are those of the program in it; and Debian's own checker has nothing to say.
func TestPackage(t *testing.T) {
	if !nightly.Is() {
		t.Skip("it is compiled twice: make nightly and make package-test do")
	}
	base := t.TempDir()
	_ = os.Unsetenv(nightly.Asked) // fugu takes each variable of FUGU_ for a key of its configuration

	// What packs is the same program twice: it compiles nothing that is in the package, so that it is compiled once.
	packer := filepath.Join(base, "nfpm")
	name := nfpm.FindStringSubmatch(read(t, "scripts/package.sh"))
	if name == nil {
		t.Fatal("scripts/package.sh names no nfpm")
	}
	run(t, []string{"GOBIN=" + base}, "go", "install", name[1])

	// The first is made of objects that were compiled in other directories, if they are there; the second of none.
	one := made(t, filepath.Join(base, "one"), "NFPM="+packer)
	two := made(t, filepath.Join(base, "another", "directory"), "NFPM="+packer,
		"GOCACHE="+filepath.Join(base, "cache"))
	deb, bill := packageFile(t, one, ".deb"), packageFile(t, one, ".cdx.json")
	for _, name := range []string{filepath.Base(deb), filepath.Base(bill), "SHA256SUMS"} {
		a, err := os.ReadFile(filepath.Join(one, name))
		if err != nil {
			t.Fatal(err)
		}
		if b, err := os.ReadFile(filepath.Join(two, name)); err != nil || !bytes.Equal(a, b) {
			t.Errorf("%s is not the same twice: %d and %d bytes, %v", name, len(a), len(b), err)
		}
	}
	run(t, nil, "bash", "-c", `cd "$0" && sha256sum --quiet -c SHA256SUMS`, one)

	tree := filepath.Join(base, "tree")
	run(t, nil, "dpkg", "-x", deb, tree)
	t.Run("program", func(t *testing.T) { checkProgram(t, deb, tree) })
	t.Run("bill", func(t *testing.T) { checkBill(t, tree, bill) })
	t.Run("example", func(t *testing.T) { checkExample(t, tree) })
	t.Run("installed", func(t *testing.T) { install(t, deb) })
	t.Run("service", func(t *testing.T) { live(t, deb) })
	t.Run("lintian", func(t *testing.T) {
		if _, err := exec.LookPath("lintian"); err != nil {
			t.Skip("lintian is not installed")
		}
		run(t, nil, "lintian", "--allow-root", "--fail-on", "error,warning", "--tag-display-limit", "0", deb)
	})
}

func packageFile(t *testing.T, dir, ending string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, "fugu_"+release+"_*"+ending))
	if err != nil || len(found) != 1 {
		t.Fatalf("%q, %v", found, err)
	}
	return found[0]
}

// The program says its version, needs no newer C library than the package asks for, and comes with its manual and
// completions.
func checkProgram(t *testing.T, deb, tree string) {
	program := filepath.Join(tree, "usr/bin/fugu")
	if got := run(t, nil, program, "version"); !strings.HasPrefix(got, "fugu "+release+" (") {
		t.Errorf("version: %s", got)
	}

	f, err := elf.Open(program)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	symbols, err := f.ImportedSymbols()
	if err != nil {
		t.Fatal(err)
	}
	newest := 0 // minor version
	for _, s := range symbols {
		if v, ok := strings.CutPrefix(s.Version, "GLIBC_2."); ok {
			minor, err := strconv.Atoi(strings.SplitN(v, ".", 2)[0])
			if err != nil {
				t.Fatal(err)
			}
			newest = max(newest, minor)
		}
	}
	if got := run(t, nil, "dpkg-deb", "-f", deb, "Depends"); newest == 0 ||
		!strings.Contains(got, fmt.Sprintf("libc6 (>= 2.%d)", newest)) {
		t.Errorf("it needs glibc 2.%d, and the package %s", newest, got)
	}

	manual := run(t, nil, "zcat", filepath.Join(tree, "usr/share/man/man1/fugu.1.gz"))
	if !strings.Contains(strings.ToLower(manual), ".th fugu 1") {
		t.Errorf("the manual begins %.80q", manual)
	}
	run(t, nil, "bash", "-n", filepath.Join(tree, "usr/share/bash-completion/completions/fugu"))
}

// The bill beside the package is the one in it, and has each module that the program is linked with.
func checkBill(t *testing.T, tree, bill string) {
	inside, err := os.ReadFile(filepath.Join(tree, "usr/share/doc/fugu/fugu.cdx.json"))
	if err != nil {
		t.Fatal(err)
	}
	if beside, err := os.ReadFile(bill); err != nil || !bytes.Equal(inside, beside) {
		t.Errorf("the bill beside the package is another: %v", err)
	}
	var b struct {
		Components []struct{ Name, Version string }
	}
	if err := json.Unmarshal(inside, &b); err != nil {
		t.Fatal(err)
	}
	var got, want []string
	for _, c := range b.Components {
		got = append(got, c.Name+" "+c.Version)
	}
	program := filepath.Join(tree, "usr/bin/fugu")
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(run(t, nil, "go", "version", "-m", program)) {
		if f := strings.Fields(line); len(f) == 4 && f[0] == "dep" {
			want = append(want, f[1]+" "+f[2])
		}
	}
	want = append(want, "std "+strings.TrimPrefix(info.GoVersion, "go"))
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) || len(want) < 10 {
		t.Errorf("the bill has %q, and the program %q", got, want)
	}
}

// The example is found good beside a database that has its tables, and without one fugu check says what it lacks.
func checkExample(t *testing.T, tree string) {
	program := filepath.Join(tree, "usr/bin/fugu")
	args := []string{"check", "-c", filepath.Join(tree, "usr/share/doc/fugu/examples/adult/fugu.yaml")}
	nowhere := exec.CommandContext(t.Context(), program, args...)
	nowhere.Env = append(os.Environ(), "FUGU_UPSTREAM_GUEST=postgres://g@127.0.0.1:1/adult",
		"FUGU_UPSTREAM_READER=postgres://r@127.0.0.1:1/adult")
	out, err := nowhere.CombinedOutput()
	if nowhere.ProcessState.ExitCode() != 1 || !bytes.Contains(out, []byte("127.0.0.1")) {
		t.Errorf("without a database: %v\n%s", err, out)
	}

	c := pgcluster.StartTest(t, pgcluster.Options{})
	if _, err := adult.Load(t.Context(), c, "adult", adult.Options{}); err != nil {
		t.Fatal(err)
	}
	run(t, []string{"FUGU_UPSTREAM_GUEST=" + c.DSN("fugu_guest", "adult"),
		"FUGU_UPSTREAM_READER=" + c.DSN("fugu_reader", "adult"),
		"FUGU_LEDGER=sqlite:" + filepath.Join(t.TempDir(), "fugu.db")}, program, args...)
}

// mounting makes, in the directory $1, a machine that is this one, but that what it writes is thrown away.
const mounting = `set -eu
mount -t tmpfs none "$1"; mkdir "$1/up" "$1/work" "$1/root"
mount -t overlay none -o "lowerdir=/,upperdir=$1/up,workdir=$1/work" "$1/root"
`

// installing is what is done there with the package $0.
const installing = `cp "$0" "$1/root/fugu.deb"
exec chroot "$1/root" sh -eux <<'INSIDE'
dpkg -i /fugu.deb
test "$(stat -c '%U %G %a' /var/lib/fugu)" = 'fugu fugu 700'
test "$(stat -c '%U %G %a' /etc/default/fugu)" = 'root root 640'
fugu version
systemd-analyze verify fugu.service
systemd-analyze security --offline=true --threshold=20 --no-pager /usr/lib/systemd/system/fugu.service > /dev/null
test "$(systemctl --root=/ is-enabled fugu.service)" = disabled
echo '# mine' >> /etc/default/fugu
touch /var/lib/fugu/fugu.db
dpkg -i /fugu.deb
grep -q '# mine' /etc/default/fugu
dpkg --remove fugu
test -e /etc/default/fugu
test ! -e /usr/bin/fugu
dpkg --purge fugu
test ! -e /etc/default/fugu
test ! -e /usr/share/doc/fugu
test -e /var/lib/fugu/fugu.db
INSIDE
`

// It installs, is installed again over what an operator has changed, and goes without the ledger; nothing is enabled
// before it is configured. The unit is sound, and exposed by 2.0 of 10 at most.
func install(t *testing.T, deb string) {
	if os.Geteuid() != 0 {
		t.Skip("root is needed to install a package")
	}
	at := t.TempDir()
	within := []string{"-m", "bash", "-c"}
	if out, err := exec.CommandContext(t.Context(), "unshare", append(within, mounting, deb, at)...).
		CombinedOutput(); err != nil {
		t.Skipf("there is no overlay here to install into: %v: %s", err, out)
	}
	out := run(t, nil, "unshare", append(within, mounting+installing, deb, at)...)
	if !strings.Contains(out, "fugu "+release+" (") {
		t.Errorf("%s", out)
	}
}
