/**
 * For vitest's `setupFiles`. After an interrupted or killed run, a vitest worker would continue until its test is over,
 * with all processes that the test has started. Those end with the vitest worker, so it can end at once. vitest does
 * not let tests call `process.exit`.
 */
function endWithRun(): void {
  process.kill(process.pid, 'SIGKILL')
}

// One process runs many files, and this module runs for each of them.
const isPrepared = process.listeners('disconnect').some(({ name }) => name === endWithRun.name)
if (!isPrepared) process.once('disconnect', endWithRun)
