import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { openOwnPlatform } from '../../support/own-platform.ts'
import { buildCli } from './build-cli.ts'
import { connect } from '../../../cli/connection.ts'
import { runCommands } from './commands.ts'
import { openRunner, type Row } from './runner.ts'
import { writeMeasured } from '../write-measured.ts'

/**
 * Builds the command line of a checkout of the public repository, runs all of its commands against a platform of its own,
 * and prints a table.
 *
 * @param writes whether to write the table into the documentation too
 */
export async function measureBp(source: string, writes: boolean): Promise<void> {
  await using parts = new AsyncDisposableStack()
  const folder = parts.adopt(await mkdtemp(join(tmpdir(), 'isobot-bp-')), (path) => rm(path, { recursive: true }))
  const cli = await buildCli(source, process.env['BP_BUILD_DIR'] ?? join(homedir(), '.cache', 'isobot-bp'))
  const platform = await openOwnPlatform(join(folder, 'data'), parts)
  const projects = join(folder, 'projects')
  await mkdir(projects)
  const rows: Row[] = []
  const api = await connect({ name: 'bp', ...platform })
  const runner = openRunner({ cli, source, folder: projects, platform }, api, (row) => {
    rows.push(row)
    console.log(`${String(row.exitCode ?? '–').padStart(2)}  bp ${row.command.padEnd(44)} ${row.remark}`)
  })
  await runCommands(runner)
  const failed = rows.filter(({ exitCode }) => exitCode !== 0 && exitCode !== null)
  console.log(`${rows.length} commands, ${failed.length} failed`)
  if (failed.length > 0) process.exitCode = 1
  if (writes) await writeMeasured('bp-commands.md', tableOf(cli.version, rows))
}

function tableOf(version: string, rows: Row[]): string[] {
  return [
    `\`bp\` ${version}, ${new Date().toISOString().slice(0, 10)}, without a person (\`--confirm\`):`,
    '',
    '| Command | Exit code | |',
    '| --- | --- | --- |',
    ...rows.map(({ command, exitCode, remark }) => `| \`${command}\` | ${exitCode ?? '–'} | ${remark} |`),
  ]
}
