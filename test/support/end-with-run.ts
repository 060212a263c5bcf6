/**
 * For vitest's `setupFiles`. A worker whose run was interrupted or killed would go on until its test is over, with all
 * that the test has started. What it started ends with it, so it may end at once; `process.exit` is not for tests to
 * call, vitest sees to that.
 */
function endWithRun(): void {
  process.kill(process.pid, 'SIGKILL')
}

// One process runs many files, and this is run for each of them.
const isPrepared = process.listeners('disconnect').some(({ name }) => name === endWithRun.name)
if (!isPrepared) process.once('disconnect', endWithRun)
