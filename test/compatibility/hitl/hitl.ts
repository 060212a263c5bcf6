import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect } from '../../../cli/connection.ts'
import { openBp } from '../../../cli/hub/bp.ts'
import { deployProject } from '../../../cli/hub/deploy-project.ts'
import { openOwnPlatform } from '../../support/own-platform.ts'
import { buildCli } from '../cli/build-cli.ts'
import { writeMeasured } from '../write-measured.ts'
import { cases } from './cases.ts'
import { writeProjects } from './project.ts'
import { openScene } from './session.ts'

/**
 * Deploys a bot with the plugin `hitl` of a checkout of the public repository, unmodified, to a platform of its own, and tries
 * what the plugin does with the built-in inbox.
 *
 * @param writes whether to write the results into the documentation too
 */
export async function measureHitl(source: string, writes: boolean): Promise<void> {
  await using parts = new AsyncDisposableStack()
  const folder = parts.adopt(await mkdtemp(join(tmpdir(), 'isobot-hitl-')), (path) => rm(path, { recursive: true }))
  const cli = await buildCli(source, process.env['BP_BUILD_DIR'] ?? join(homedir(), '.cache', 'isobot-bp'))
  const projects = await writeProjects(source, join(folder, 'projects'), cli.modules)
  const platform = await openOwnPlatform(join(folder, 'data'), parts)
  const home = join(folder, 'home')
  await mkdir(home)
  const bp = await openBp(cli.script, platform, home)
  for (const project of projects) {
    const { problem } = await deployProject(bp, project)
    if (problem !== '') throw new Error(`${project.kind}/${project.name}: ${problem}`)
  }
  const api = await connect({ name: 'hitl', ...platform })
  const { bots } = await api.ask<'listBots'>('GET', '/v1/admin/bots', { query: { pageSize: 1 } })
  const { bot } = await api.ask<'getBot'>('GET', `/v1/admin/bots/${bots[0]!.id}`)
  const urlOf = (alias: string) => bot.integrations[alias]!.webhookUrl
  const tried = { id: bot.id, chatUrl: urlOf('chat'), webchatUrl: urlOf('webchat'), restart: () => platform.restart() }
  const lines: string[] = []
  let failed = 0
  for (const [name, attempt] of Object.entries(cases)) {
    const result = await attempt(await openScene(api, tried)).then(
      () => 'works',
      (error: Error) => `fails: ${error.message.replaceAll(/[|\n]/g, ' ').slice(0, 300)}`,
    )
    if (result !== 'works') failed += 1
    lines.push(`| ${name} | ${result} |`)
    console.log(`${result.padEnd(6)} ${name}`)
  }
  const manifest = await readFile(join(source, 'plugins', 'hitl', 'plugin.definition.ts'), 'utf8')
  const [, version = ''] = /version: '([\d.]+)'/.exec(manifest) ?? []
  const total = lines.length
  const summary = `${new Date().toISOString().slice(0, 10)}, plugin \`hitl\` ${version}, \`bp\` ${cli.version}: ${total - failed} of ${total} work.`
  console.log(summary)
  if (failed > 0) process.exitCode = 1
  if (writes) await writeMeasured('handover.md', [summary, '', '| With the plugin | |', '| --- | --- |', ...lines])
}
