import { relative } from 'node:path'
import type { openBot as openTestedBot, openIntegration as openTestedIntegration } from '../bot/test.d.ts'
import { bundleIntegration, bundleOnce } from './dry-run/find-code.ts'
import { openDryRun } from './dry-run/dry-run.ts'
import { installDry } from './dry-run/integration.ts'
import { openProject } from './project/project.ts'

/** The bot of a project, for the author's tests: `import { openBot } from 'isobot/test'`. */
export const openBot: typeof openTestedBot = async (folder, secrets = {}) => {
  const trial = await openDryRun(await bundleOnce(await openProject(folder)), secrets)
  const close = async () => trial[Symbol.asyncDispose]()
  const { hooks, actions, run } = trial
  return { hooks, actions, run, openConversation: trial.openConversation, close, [Symbol.asyncDispose]: close }
}

/** An integration of a project, for the author's tests: `import { openIntegration } from 'isobot/test'`. */
export const openIntegration: typeof openTestedIntegration = async (
  folder,
  { configuration = {}, secrets = {} } = {},
) => {
  const project = await openProject(folder)
  const integration = await bundleIntegration(project, relative(project.folder, folder))
  const trial = await openDryRun(integration, secrets)
  const close = async () => trial[Symbol.asyncDispose]()
  return { ...installDry(trial, integration.definition, configuration), close, [Symbol.asyncDispose]: close }
}
