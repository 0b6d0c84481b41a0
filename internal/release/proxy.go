package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"golang.org/x/mod/module"
	"golang.org/x/mod/sumdb/dirhash"
	"golang.org/x/mod/zip"
)

// A proxy is a directory that the go command reads like a module proxy,
// see https://go.dev/ref/mod#goproxy-protocol.
type proxy string

// url is the element of GOPROXY that names the proxy.
func (p proxy) url() string {
	name := filepath.ToSlash(string(p))
	if runtime.GOOS == "windows" { // C:/… needs a slash in front
		name = "/" + name
	}
	return "file://" + name
}

// sums are the checksums of a module as go.sum has them.
type sums struct{ zip, goMod string }

// publish adds a module to the proxy as it is in a commit or a tree of r, in
// the form in which the go command would fetch it from there.
func (p proxy) publish(ctx context.Context, r repository, m mod, version, tree string) (sums, error) {
	escaped, err := module.EscapePath(m.path)
	if err != nil {
		return sums{}, err
	}
	dir := filepath.Join(string(p), filepath.FromSlash(escaped), "@v")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return sums{}, err
	}
	subdir := m.dir
	if subdir == "." {
		subdir = ""
	}
	archive, err := os.Create(filepath.Join(dir, version+".zip"))
	if err != nil {
		return sums{}, err
	}
	err = zip.CreateFromVCS(archive, module.Version{Path: m.path, Version: version}, r.dir, tree, subdir)
	if closeErr := archive.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return sums{}, err
	}
	goMod, err := r.git(ctx, "show", tree+":"+m.tag("go.mod"))
	if err != nil {
		return sums{}, err
	}
	goMod += "\n" // which git cuts off
	for name, content := range map[string]string{
		version + ".mod":  goMod,
		version + ".info": fmt.Sprintf(`{"Version":%q,"Time":%q}`, version, time.Now().UTC().Format(time.RFC3339)),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
			return sums{}, err
		}
	}
	if err := list(dir, version); err != nil {
		return sums{}, err
	}
	return checksums(archive.Name(), filepath.Join(dir, version+".mod"))
}

// list adds a version to those from which "latest" is chosen. They do not
// include pseudo-versions.
func list(dir, version string) error {
	if module.IsPseudoVersion(version) {
		return nil
	}
	name := filepath.Join(dir, "list")
	listed, err := os.ReadFile(name)
	if err != nil && !os.IsNotExist(err) {
		return err
	}
	if strings.Contains("\n"+string(listed), "\n"+version+"\n") {
		return nil
	}
	return os.WriteFile(name, append(listed, version+"\n"...), 0o644)
}

func checksums(zipFile, modFile string) (s sums, err error) {
	if s.zip, err = dirhash.HashZip(zipFile, dirhash.Hash1); err != nil {
		return s, err
	}
	goMod, err := os.ReadFile(modFile)
	if err != nil {
		return s, err
	}
	s.goMod, err = hashGoMod(goMod)
	return s, err
}
