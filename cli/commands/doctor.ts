import type { Command } from 'commander'
import type { Examination } from '../doctor/examine.ts'
import type { Grade } from '../doctor/finding.ts'
import { exitCodes } from '../failure.ts'
import { loadVariables, usualVariables } from '../load-variables.ts'
import { styled } from '../output.ts'
import { loadPlatformOnly } from '../platform-only.ts'
import { operatedDataDirectory } from '../profiles.ts'
import { toolsOf } from '../tools.ts'

export function addDoctorCommand(program: Command): void {
  program
    .command('doctor')
    .summary('check settings, database, Redis, sandbox and machine, with remedies')
    .description(
      'Checks on a machine, with the platform’s environment variables, whether the platform can run: settings, PostgreSQL, ' +
        'Redis, isolation layers of the sandbox, memory, open files, clocks, disk and address. It changes nothing.\n\n' +
        'The exit code is 1 when a problem prevents the platform from working.',
    )
    .option(
      '--env-file <file>',
      `file with variables that the environment does not set (default: ${usualVariables}, if it exists)`,
    )
    .addHelpText('after', '\nExample:\n  $ isobot doctor\n  $ isobot doctor --env-file production.env --json\n')
    .action(async ({ envFile }: { envFile?: string }, command: Command) => {
      const { output } = toolsOf(command)
      loadVariables(envFile)
      const { examine } = await loadPlatformOnly('doctor', () => import('../doctor/examine.ts'))
      const examined = examine({ environment: process.env, dataDirectory: await operatedDataDirectory() })
      const examination = await output.during('Checking', examined)
      output.result(examination, () => asText(examination))
      if (examination.failures > 0) process.exitCode = exitCodes.failed
    })
}

const signs: Record<Grade, string> = { ok: '✓', warn: '!', fail: '✗' }
const colours = { ok: 'green', warn: 'yellow', fail: 'red' } as const

function asText({ findings, failures, warnings }: Examination): string {
  const lines: string[] = []
  let area: string | undefined
  for (const finding of findings) {
    if (finding.area !== area) lines.push(...(area === undefined ? [] : ['']), styled('bold', finding.area))
    area = finding.area
    const sign = styled(colours[finding.grade], signs[finding.grade])
    lines.push(`  ${sign} ${finding.message}`)
    if (finding.remedy !== undefined) lines.push(`    → ${finding.remedy}`)
  }
  lines.push(
    '',
    failures + warnings === 0 ? 'No problems found' : `${count(failures, 'failure')}, ${count(warnings, 'warning')}`,
  )
  return lines.join('\n')
}

function count(number: number, word: string): string {
  return `${number} ${word}${number === 1 ? '' : 's'}`
}
