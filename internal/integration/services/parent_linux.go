package services

import "syscall"

// endWithParent makes a server stop when the test binary dies without cleaning
// up, as it does when a test exceeds -timeout.
func endWithParent(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGTERM }
