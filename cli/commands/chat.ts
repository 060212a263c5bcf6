import { createInterface } from 'node:readline'
import type { Command } from 'commander'
import { readDuration } from '../duration.ts'
import type { Failure } from '../failure.ts'
import { reportFailure } from '../report-failure.ts'
import { toolsOf } from '../tools.ts'

export function addChatCommand(program: Command): void {
  program
    .command('chat')
    .argument('<bot>', 'the bot’s id or name')
    .argument('[message...]', 'a message to send instead of typed lines')
    .summary('talk to a bot')
    .description(
      'Talks to a bot, as a new user in a new conversation. At a terminal, each line is sent as a message until Ctrl-C or ' +
        '/quit, and a number selects an option of the bot. Otherwise the command sends the given message, or each line of ' +
        'standard input, and prints the answers. It reports failures of the bot and continues, with exit code 1.',
    )
    .option('--timeout <time>', 'how long to wait for each answer, without a terminal', '75s')
    .addHelpText(
      'after',
      '\nExample:\n  $ isobot chat greeter\n  $ isobot chat greeter "Hi there"\n  $ isobot chat greeter --json < questions.txt\n',
    )
    .action(async (idOrName: string, messages: string[], { timeout }: { timeout: string }, command: Command) => {
      const { output, connect } = toolsOf(command)
      const timeoutMilliseconds = readDuration(timeout)
      const [{ findBot }, { untilInterrupted }, { describeWorkerProblem }] = await Promise.all([
        import('../find-bot.ts'),
        import('../start/interrupt.ts'),
        import('../chat/worker-state.ts'),
      ])
      const connection = await connect()
      const bot = await findBot(connection, idOrName)
      const problem = await describeWorkerProblem(connection)
      if (messages.length === 0 && process.stdin.isTTY && process.stdout.isTTY && !output.isJson) {
        const { openTerminalChat } = await import('../chat/terminal.ts')
        using chat = await openTerminalChat(bot, connection, { showsFailures: true })
        chat.print(`Talking to ${bot.name}; Ctrl-C ends it`)
        if (problem !== undefined) chat.print(problem)
        await chat.ended
        return
      }
      if (problem !== undefined) output.note(problem)
      const { pipeChat } = await import('../chat/piped.ts')
      using interruption = untilInterrupted()
      const { signal } = interruption
      const lines = messages.length > 0 ? [messages.join(' ')] : inputLines(signal)
      const onFailure = (failure: Failure) => {
        process.exitCode = reportFailure(failure, { isJson: output.isJson, isVerbose: false })
      }
      await pipeChat(connection, bot, { lines, output, timeoutMilliseconds, signal, onFailure })
    })
}

/** Opens standard input when the first line is requested, because lines emitted earlier would be lost. */
async function* inputLines(signal: AbortSignal): AsyncGenerator<string> {
  yield* createInterface({ input: process.stdin, signal })
}
