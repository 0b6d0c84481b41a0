package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Each file is fit for Linux with 64 bits and unfit for one other platform, or for all.
func TestAPackageIsCheckedForPlatformsOnWhichNoTestRuns(t *testing.T) {
	t.Setenv("GOWORK", "off")
	t.Setenv("GOFLAGS", "")
	const fit = "package p\n\nimport \"os\"\n\nfunc Size(f *os.File) (int64, error) {\n\ti, err := f.Stat()\n\tif err != nil {\n\t\treturn 0, err\n\t}\n\treturn i.Size(), nil\n}\n"
	tests := []struct {
		name, file, text string
		platform, want   string
	}{
		{"a package that is fit", "q.go", "package p\n", "windows/amd64", ""},
		{"a number of more than 32 bits", "q.go", "package p\n\nvar year int = 365 * 24 * 3600 * 1000\n", "linux/386", "overflows"},
		{"the same number where there are 64", "q.go", "package p\n\nvar year int = 365 * 24 * 3600 * 1000\n", "darwin/arm64", ""},
		{"a system call of Unix", "q.go", "package p\n\nimport \"syscall\"\n\nvar pipe = syscall.Mkfifo\n", "windows/amd64", "undefined: syscall.Mkfifo"},
		{"a fault in the body of a function", "q.go", "package p\n\nimport \"syscall\"\n\nfunc q() { syscall.Epoll() }\n", "darwin/arm64", "undefined: syscall.Epoll"},
		{"a file for Windows alone", "q_windows.go", "package p\n\nvar q string = 1\n", "windows/amd64", "q_windows.go:3"},
		{"a test", "q_test.go", "package p\n\nvar q string = 1\n", "linux/386", "q_test.go:3"},
		{"a test from outside of the package", "q_test.go", "package p_test\n\nimport \"example.com/p\"\n\nvar q string = p.Size\n", "linux/386", "q_test.go:5"},
		{"a test of what another test file declares", "q_test.go", "package p_test\n\nimport \"example.com/p\"\n\nvar _ = p.Inner\n", "linux/386", ""},
		{"an import that is missing", "q.go", "package p\n\nimport _ \"example.com/missing\"\n", "linux/386", "example.com/missing"},
		{"a syntax error", "q_windows.go", "package p\n\nvar = 1\n", "windows/amd64", "q_windows.go:3"},
	}
	for _, tt := range tests {
		t.Run(tt.name+" on "+tt.platform, func(t *testing.T) {
			dir := t.TempDir()
			files := map[string]string{
				"go.mod": "module example.com/p\n\ngo 1.26\n", "p.go": fit, tt.file: tt.text,
				"inner_test.go": "package p\n\nvar Inner = 1\n",
			}
			for name, text := range files {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			err := typeCheck(t.Context(), dir, tt.platform, []string{"./..."})
			if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("the check returns %v, want %q", err, tt.want)
			}
		})
	}
}
