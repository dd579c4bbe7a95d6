package pgcluster

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// findServer finds the directory of PostgreSQL's programs: that of the initdb on PATH, else Debian's newest.
func findServer() (string, error) {
	var dirs []string
	if path, err := exec.LookPath("initdb"); err == nil {
		if path, err = filepath.EvalSymlinks(path); err == nil {
			dirs = append(dirs, filepath.Dir(path))
		}
	}
	debian, _ := filepath.Glob("/usr/lib/postgresql/*/bin")
	version := func(dir string) int {
		n, _ := strconv.Atoi(filepath.Base(filepath.Dir(dir)))
		return n
	}
	slices.SortFunc(debian, func(a, b string) int { return version(b) - version(a) })
	for _, dir := range append(dirs, debian...) {
		if executable(filepath.Join(dir, "initdb")) && executable(filepath.Join(dir, "postgres")) {
			return dir, nil
		}
	}
	return "", errors.New("pgcluster: no PostgreSQL server (initdb and postgres) on PATH or in /usr/lib/postgresql: " +
		"run scripts/setup.sh server")
}

func executable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}

// account is who PostgreSQL runs as: it refuses to run as root.
type account struct {
	uid, gid int
	switchTo bool // from root
}

// unprivileged is the account of this process, or if that is root, the one of postgres or else nobody.
func unprivileged() (account, error) {
	if os.Geteuid() != 0 {
		return account{uid: os.Geteuid(), gid: os.Getegid()}, nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, err1 := strconv.Atoi(u.Uid)
		gid, err2 := strconv.Atoi(u.Gid)
		if err1 == nil && err2 == nil && uid != 0 {
			return account{uid: uid, gid: gid, switchTo: true}, nil
		}
	}
	return account{}, errors.New("pgcluster: PostgreSQL cannot run as root, and there is no user postgres or nobody")
}

// tempDir makes a temporary directory that belongs to the account and that nobody else may enter.
func (a account) tempDir() (string, error) {
	parent := os.TempDir()
	// The path of a Unix socket may have 107 bytes (sun_path in unix(7)).
	if len(parent) > 60 {
		parent = "/tmp"
	}
	dir, err := os.MkdirTemp(parent, "fugu-pg-")
	if err != nil {
		return "", err
	}
	if err := os.Chown(dir, a.uid, a.gid); err != nil {
		return "", errors.Join(err, os.Remove(dir))
	}
	return dir, nil
}

// command is a command of the account, in a process group of its own, so that an interrupt at the terminal
// leaves it to the process that started it, and without the PG* variables of the environment.
func (a account) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.Dir = "/"
	cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool {
		return strings.HasPrefix(v, "PG") || strings.HasPrefix(v, "LC_") || strings.HasPrefix(v, "LANG")
	})
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if a.switchTo {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: uint32(a.uid), Gid: uint32(a.gid)}
	}
	return cmd
}

// process is a running command. A goroutine waits for its end; stop waits for that goroutine.
type process struct {
	cmd  *exec.Cmd
	done chan struct{} // closed when the process has ended
}

func start(cmd *exec.Cmd) (*process, error) {
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	p := &process{cmd: cmd, done: make(chan struct{})}
	go func() {
		_ = cmd.Wait() // how it ended is in its log
		close(p.done)
	}()
	return p, nil
}

// stop sends the signal and waits for the end. A process that does not heed for so long is killed, which is an error.
func (p *process) stop(signal syscall.Signal, patience time.Duration) error {
	_ = p.cmd.Process.Signal(signal) // fails only if it has ended
	select {
	case <-p.done:
		return nil
	case <-time.After(patience):
	}
	_ = p.cmd.Process.Kill()
	<-p.done
	return fmt.Errorf("it did not heed %v within %v and was killed", signal, patience)
}

// watchdog is a shell that outlives this process if it has to: it reads from a pipe that only this process writes to,
// and the end of that pipe tells it to stop the server and remove the directory. (A signal on the parent's death,
// PR_SET_PDEATHSIG, would come when the thread that started the server ends, and would leave the directory.)
type watchdog struct {
	shell *process
	pipe  io.Closer
}

const watchdogScript = `
read -r _
lock=$1/data/postmaster.pid
if read -r pid 2>/dev/null <"$lock"; then
	kill -QUIT "$pid" 2>/dev/null
	tries=100
	while [ -e "$lock" ] && [ $((tries -= 1)) -gt 0 ]; do sleep 0.1; done
	[ ! -e "$lock" ] || kill -KILL "$pid" 2>/dev/null
fi
rm -rf "$1"
`

func watch(as account, dir string) (*watchdog, error) {
	cmd := as.command("/bin/sh", "-c", watchdogScript, "fugu-pg-watchdog", dir)
	pipe, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	shell, err := start(cmd)
	if err != nil {
		return nil, errors.Join(err, pipe.Close())
	}
	return &watchdog{shell: shell, pipe: pipe}, nil
}

// dismiss ends the watchdog and waits for it. The server must be down: the watchdog would stop it.
func (w *watchdog) dismiss() error {
	err := w.pipe.Close()
	<-w.shell.done
	return err
}
