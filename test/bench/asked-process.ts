import { fork, type ForkOptions } from 'node:child_process'
import { once } from 'node:events'

/** A process of the benchmark that answers one question at a time. */
export interface AskedProcess<Question, Answer> {
  pid: number
  /** @throws Error with the process's message when it cannot answer, or when it has ended */
  ask(question: Question): Promise<Answer>
}

type Reply<Answer> = { answer: Answer } | { error: string }

/**
 * Starts a process that answers questions. It ends with `parts`, or with this process.
 *
 * @param name its name in errors
 * @param script a module that calls `answerQuestions`
 * @param options the program that runs it, if not this one's
 */
export function startAskedProcess<Question extends object, Answer>(
  name: string,
  script: URL,
  parts: AsyncDisposableStack,
  options: ForkOptions = {},
): AskedProcess<Question, Answer> {
  const child = fork(script, options)
  parts.defer(async () => {
    const exited = once(child, 'exit')
    if (child.connected) child.disconnect()
    if (child.exitCode === null && child.signalCode === null) await exited
  })
  return {
    pid: child.pid!,
    async ask(question) {
      const answered = new AbortController()
      const ended = once(child, 'exit', answered).then(() => {
        throw new Error(`The process of ${name} is gone`)
      })
      try {
        child.send(question)
        const [reply] = (await Promise.race([once(child, 'message', answered), ended])) as [Reply<Answer>]
        if ('error' in reply) throw new Error(`The process of ${name} gave up: ${reply.error}`)
        return reply.answer
      } finally {
        answered.abort()
      }
    },
  }
}

/** Makes this process answer its parent's questions over Node's IPC channel, and end with the parent. */
export function answerQuestions(answer: (question: never) => Promise<object>): void {
  process.on('disconnect', () => process.exit())
  // Ctrl-C reaches the whole process group; the parent decides when this process ends.
  process.on('SIGINT', () => {})
  process.on('message', (question) => {
    answer(question as never).then(
      (answer) => reply({ answer }),
      (error: unknown) => reply({ error: String(error) }),
    )
  })
}

function reply(message: Reply<object>): void {
  process.send?.(message)
}
