/**
 * util-linux's `unshare` prints this, and exits with code 1, whenever a signal has ended its child: it resets the handler
 * of that signal, which SIGKILL does not allow (2.38, the version of Debian 12).
 */
const killMessage = /^unshare: sigprocmask unblock failed: .*\n?/gm

/** Removes the lines that `unshare` adds to a process's standard error when a signal has ended the process. */
export function withoutKillMessage(text: string): string {
  return text.replace(killMessage, '')
}
