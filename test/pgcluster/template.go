package pgcluster

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

var initdbArgs = []string{"--auth=trust", "--no-sync", "--username=postgres", "--encoding=UTF8", "--locale=C.UTF-8"}

// makeData creates the data directory of a cluster: a copy of one made earlier by the same program, or if there is none
// or it is damaged, with initdb, and then a copy is kept.
func makeData(ctx context.Context, bin string, as account, data string) error {
	server, err := os.Stat(filepath.Join(bin, "postgres"))
	if err != nil {
		return err
	}
	// To ask the program for its version takes as long as a tenth of the start: another version is another file.
	cache, cacheErr := openCache(as, fmt.Sprintln(bin, server.Size(), server.ModTime().UnixNano(), initdbArgs))
	if cacheErr != nil {
		return initdb(ctx, bin, as, data)
	}

	// Others may copy at the same time, but nobody while one exchanges what is there: a copy would have half of each.
	lock, err := os.Open(cache.root)
	if err != nil {
		return err
	}
	defer lock.Close()
	// Who waited for the second may find it made meanwhile.
	for _, how := range []int{syscall.LOCK_SH, syscall.LOCK_EX} {
		if err := syscall.Flock(int(lock.Fd()), how); err != nil {
			return os.NewSyscallError("flock", err)
		}
		if cache.copyTo(ctx, data) == nil {
			return nil
		}
		if err := os.RemoveAll(data); err != nil {
			return err
		}
	}
	if err := initdb(ctx, bin, as, data); err != nil {
		return err
	}
	_ = cache.store(ctx, data) // the next cluster will try again
	return nil
}

func initdb(ctx context.Context, bin string, as account, data string) error {
	_, err := run(ctx, as, filepath.Join(bin, "initdb"), append([]string{"-D", data}, initdbArgs...)...)
	return err
}

// cache is a place for one data directory, shared by all processes that run as the same account:
//
//	TMPDIR/fugu-pgcluster-UID/KEY/data      the data directory
//	TMPDIR/fugu-pgcluster-UID/KEY/manifest  its digest, see digest
//
// KEY appears by a rename when it is complete, and what was copied from it is checked against the manifest, since
// temporary directories are cleaned file by file.
type cache struct {
	as   account
	root string
	key  string
}

var errUnsafe = errors.New("not a private directory of the account")

func openCache(as account, inputs string) (*cache, error) {
	root := filepath.Join(os.TempDir(), "fugu-pgcluster-"+strconv.Itoa(as.uid))
	if err := os.Mkdir(root, 0o700); err == nil {
		if err := os.Chown(root, as.uid, as.gid); err != nil {
			return nil, err
		}
	} else if !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	// The name can be guessed: somebody else may have made it, to have us use a cluster of theirs.
	info, err := os.Lstat(root)
	if err != nil {
		return nil, err
	}
	owner, ok := info.Sys().(*syscall.Stat_t)
	if !info.IsDir() || info.Mode().Perm()&0o077 != 0 || !ok || int(owner.Uid) != as.uid {
		return nil, errUnsafe
	}
	sum := sha256.Sum256([]byte(inputs))
	return &cache{as: as, root: root, key: hex.EncodeToString(sum[:8])}, nil
}

func (c *cache) path() string { return filepath.Join(c.root, c.key) }

// copyTo makes data a copy of the cache's data directory; an error leaves data in any state.
func (c *cache) copyTo(ctx context.Context, data string) error {
	want, err := os.ReadFile(filepath.Join(c.path(), "manifest"))
	if err != nil {
		return err
	}
	if _, err := run(ctx, c.as, "cp", "-a", filepath.Join(c.path(), "data"), data); err != nil {
		return err
	}
	got, err := digest(data)
	if err != nil {
		return err
	}
	if got != string(want) {
		return errors.New("the copy is not what was stored")
	}
	return nil
}

// store puts a copy of data into the cache, in place of what may be there.
func (c *cache) store(ctx context.Context, data string) error {
	work, err := os.MkdirTemp(c.root, "new-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	fresh, old := filepath.Join(work, "fresh"), filepath.Join(work, "old")
	if err := errors.Join(os.Mkdir(fresh, 0o700), os.Chown(work, c.as.uid, c.as.gid),
		os.Chown(fresh, c.as.uid, c.as.gid)); err != nil {
		return err
	}
	if _, err := run(ctx, c.as, "cp", "-a", data, filepath.Join(fresh, "data")); err != nil {
		return err
	}
	sum, err := digest(filepath.Join(fresh, "data"))
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(fresh, "manifest"), []byte(sum), 0o644); err != nil {
		return err
	}
	if err := os.Rename(c.path(), old); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return os.Rename(fresh, c.path()) // fails if another process was faster, and then its copy is as good
}

// digest identifies the files of a directory by their names, kinds and sizes, which is what a cleaner of temporary
// directories changes.
func digest(dir string) (string, error) {
	h := sha256.New()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		size := info.Size()
		if d.IsDir() {
			size = 0
		}
		name, err := filepath.Rel(dir, path)
		fmt.Fprintln(h, name, d.Type(), size)
		return err
	})
	return hex.EncodeToString(h.Sum(nil)), err
}

// run runs a command of the account to its end and returns what it wrote.
func run(ctx context.Context, as account, name string, args ...string) (string, error) {
	var out strings.Builder
	cmd := as.command(name, args...)
	cmd.Stdout, cmd.Stderr = &out, &out
	p, err := start(cmd)
	if err != nil {
		return "", fmt.Errorf("%s: %w", filepath.Base(name), err)
	}
	select {
	case <-p.done:
	case <-ctx.Done():
		return "", errors.Join(ctx.Err(), p.stop(syscall.SIGKILL, patience))
	}
	if !cmd.ProcessState.Success() {
		return "", fmt.Errorf("%s: %s: %s", filepath.Base(name), cmd.ProcessState, strings.TrimSpace(out.String()))
	}
	return out.String(), nil
}
