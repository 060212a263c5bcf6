import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['./test/services.ts'],
    setupFiles: ['./test/end-with-run.ts'],
    pool: 'forks',
    // Much of the time is spent in waiting for other processes.
    maxWorkers: Math.ceil(availableParallelism() * 1.5),
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
})
