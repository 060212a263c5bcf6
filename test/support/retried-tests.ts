import type { Reporter, TestCase, TestModule } from 'vitest/node'

/**
 * Names each test that ran more than once, after the summary, with the errors of its attempts: a test that passes on
 * retry has a fault to investigate.
 */
export default class RetriedTests implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const retried = modules.flatMap(({ children }) =>
      Array.from(children.allTests()).filter((test) => attemptsOf(test) > 1),
    )
    const title = retried.length === 0 ? 'No test was retried' : `Retried tests: ${retried.length}`
    process.stdout.write(`${[title, ...retried.flatMap(linesAbout)].join('\n')}\n`)
  }
}

function attemptsOf(test: TestCase): number {
  return 1 + (test.diagnostic()?.retryCount ?? 0)
}

function linesAbout(test: TestCase): string[] {
  const { state, errors } = test.result()
  const file = test.module.relativeModuleId
  return [
    `  ${file} > ${test.fullName}: ${state} at attempt ${attemptsOf(test)}`,
    ...(errors ?? []).map(({ message, stacks }) => {
      const frame = stacks?.find((entry) => entry.file.endsWith(file))
      return `    ${frame ? `line ${frame.line}: ` : ''}${message}`
    }),
  ]
}
