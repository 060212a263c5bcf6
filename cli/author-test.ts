import type { openBot as openTestedBot } from '../bot/test.d.ts'
import { openProject } from './project/project.ts'
import { bundleOnce } from './dry-run/find-code.ts'
import { openDryRun } from './dry-run/dry-run.ts'

/** The bot of a project, for the author's tests: `import { openBot } from 'isobot/test'`. */
export const openBot: typeof openTestedBot = async (folder, secrets = {}) => {
  const trial = await openDryRun(await bundleOnce(await openProject(folder)), secrets)
  const close = async () => trial[Symbol.asyncDispose]()
  const { hooks, actions, run } = trial
  return { hooks, actions, run, openConversation: trial.openConversation, close, [Symbol.asyncDispose]: close }
}
