package main

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// The kernel's USER_HZ, which is 100 wherever Go and workerd run on Linux.
const ticksPerSecond = 100

// cpuSeconds is what the process has had so far, user and system together (proc_pid_stat(5), fields 14 and 15).
func cpuSeconds(pid int) (float64, error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	// The name of the program, field 2, may hold spaces: count from its closing bracket.
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	ticks := 0
	for _, field := range fields[11:13] {
		n, err := strconv.Atoi(field)
		if err != nil {
			return 0, err
		}
		ticks += n
	}
	return float64(ticks) / ticksPerSecond, nil
}

// forgetPeak has the kernel count the peak of resident memory anew (proc_pid_clear_refs(5)).
func forgetPeak(pid int) error {
	return os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", pid), []byte("5"), 0)
}

// peakBytes is the peak of resident memory, VmHWM.
func peakBytes(pid int) (int, error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	kib, err := strconv.Atoi(strings.Fields(rest)[0])
	return kib * 1024, err
}
