import type { Reporter, TestModule } from 'vitest/node'

/**
 * Names each test that ran more than once, after the summary: a test that passes on retry has a fault to investigate.
 */
export default class RetriedTests implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const lines = modules.flatMap(({ relativeModuleId, children }) =>
      Array.from(children.allTests()).flatMap((test) => {
        const attempts = 1 + (test.diagnostic()?.retryCount ?? 0)
        return attempts > 1
          ? [`  ${relativeModuleId} > ${test.fullName}: ${test.result().state} at attempt ${attempts}`]
          : []
      }),
    )
    const title = lines.length === 0 ? 'No test was retried' : `Retried tests: ${lines.length}`
    process.stdout.write(`${[title, ...lines].join('\n')}\n`)
  }
}
