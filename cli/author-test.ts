import { openProject } from './project/project.ts'
import { bundleOnce } from './dry-run/find-code.ts'
import { openDryRun, type DryRun } from './dry-run/dry-run.ts'

export type { DryRunCall, DryRunFetch } from './dry-run/host.ts'
export type { ConversationOptions, DryRunOptions } from './dry-run/dry-run.ts'
export type { DryRunResult } from './dry-run/result.ts'
export type { DryRunConversation as Conversation, Reply, Variables } from './dry-run/conversation.ts'

/** The bot of a project, for the author's tests: `import { openBot } from 'isobot/test'`. */
export interface TestedBot extends Pick<DryRun, 'run' | 'openConversation' | 'hooks' | 'actions'>, AsyncDisposable {
  /** Ends the isolate. The open isolate keeps the test process alive. */
  close(): Promise<void>
}

/**
 * Bundles the project in a folder and opens an isolate with the bundle.
 *
 * @param folder the project's folder
 * @param secrets the values that the bot reads from `env`, by name: `{ SECRET_API_KEY: '…' }`
 */
export async function openBot(folder: string, secrets: Record<string, string> = {}): Promise<TestedBot> {
  const trial = await openDryRun(await bundleOnce(await openProject(folder)), secrets)
  const close = async () => trial[Symbol.asyncDispose]()
  const { hooks, actions, run, openConversation } = trial
  return { hooks, actions, run, openConversation, close, [Symbol.asyncDispose]: close }
}
