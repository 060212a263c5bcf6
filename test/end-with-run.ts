/**
 * For vitest's `setupFiles`. A worker whose run was interrupted or killed would go on until its test is over, with all
 * that the test has started. What it started ends with it, so it may end at once; `process.exit` is not for tests to
 * call, vitest sees to that.
 */
process.once('disconnect', () => process.kill(process.pid, 'SIGKILL'))
