/**
 * Resolves when standard input ends. A process whose standard input is a pipe that its parent holds learns in this way
 * that the parent process exited, however it died: the kernel closes the pipe even after SIGKILL.
 *
 * Waiting for it does not keep the process alive.
 */
export function untilParentGone(): Promise<void> {
  const { stdin } = process
  return new Promise((resolve) => {
    for (const event of ['end', 'error', 'close']) stdin.once(event, () => resolve())
    stdin.resume()
    // A redirected file is read to its end at once and has no `unref`, contrary to its type.
    if ('unref' in stdin) stdin.unref()
  })
}
