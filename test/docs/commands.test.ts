import { glob, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Command } from 'commander'
import { expect, test } from 'vitest'
import { createProgram } from '../../cli/program.ts'
import { readPages, root } from './blocks.ts'

const program = await createProgram()

/** Texts in which `isobot` is a command: code of pages, and what errors, help and templates tell people to run. */
async function texts(): Promise<[place: string, text: string][]> {
  const pages = (await readPages()).filter(({ path }) => !path.startsWith('docs/decisions/'))
  const ofPages = pages.flatMap(({ path, text, blocks }) => [
    ...blocks.filter(({ language }) => language === 'sh').map((block) => [block.place, block.text] as [string, string]),
    ...inlineCode(text).map((code) => [path, code] as [string, string]),
  ])
  const rooms = '{api,cli,console,migrations,sandbox,shared,templates,worker}'
  const entries = await Array.fromAsync(glob(`${rooms}/**/*.{ts,tsx,md}`, { cwd: root, withFileTypes: true }))
  const files = entries.filter((entry) => entry.isFile() && !/node_modules|\/dist\b/.test(entry.parentPath))
  const ofFiles = await Promise.all(
    files.map(async ({ parentPath, name }): Promise<[string, string][]> => {
      const text = await readFile(join(parentPath, name), 'utf8')
      return inlineCode(text.replaceAll('\\`', '`')).map((code) => [name, code])
    }),
  )
  return [...ofPages, ...ofFiles.flat()]
}

const inlineCode = (text: string) =>
  Array.from(text.replaceAll(/^```[^]*?^```$/gm, '').matchAll(/`([^`]{1,200})`/g), ([, code = '']) =>
    code.replaceAll(/\s+/g, ' '),
  )

/** The command lines in a text, each without `isobot`. */
function commandLines(text: string): string[] {
  const lines = text.replaceAll('\\\n', ' ').split(/\n|[|;)]|&&/)
  return lines.flatMap((line) => {
    const [, rest] =
      /^(?:[A-Z_]+=\S* |\w+=\$\(|cat \S+ )*(?:\s*npx )?\s*isobot ((?:[a-z-]|<).*)$/.exec(line.trim()) ?? []
    return rest === undefined ? [] : [rest.replaceAll(/"[^"]*"|'[^']*'|\$\{[^}]*\}/g, 'x')]
  })
}

const named = (command: Command, word?: string) => command.commands.find((candidate) => candidate.name() === word)

/** The fault of a command line: a command or an option that does not exist. */
function faultOf(line: string): string | undefined {
  const words = line.split(/[\s,]+/).filter(Boolean)
  const [name = ''] = words
  const command = named(program, name)
  if (name.startsWith('-')) return undefined
  if (!command) return `no command ${name}`
  const sub = named(command, words[1])
  const takesWord = words[1] !== undefined && /^[a-z]/.test(words[1])
  if (command.commands.length > 0 && takesWord && !sub) return `no command ${name} ${words[1]}`
  const commands = [program, command, ...command.commands.filter((one) => !sub || one === sub)]
  const options = commands.flatMap((one) => one.options.flatMap(({ long, short }) => [long, short]))
  const unknown = words
    .filter((word) => /^--?[a-z]/.test(word))
    .map((word) => word.replace(/[=:.…].*/, ''))
    .find((word) => !options.includes(word) && word !== '--help')
  return unknown === undefined ? undefined : `no option ${unknown} of ${name}`
}

test('a command line with a fault is found out', () => {
  expect(commandLines('npx isobot bots list --json | head\ncd x && isobot deploy')).toEqual([
    'bots list --json',
    'deploy',
  ])
  expect(faultOf('bots list --json')).toBeUndefined()
  expect(faultOf('whoami')).toBe('no command whoami')
  expect(faultOf('bots rename')).toBe('no command bots rename')
  expect(faultOf('deploy --force')).toBe('no option --force of deploy')
})

test('every command and option that pages and messages name exists', async () => {
  const lines = (await texts()).flatMap(([place, text]) => commandLines(text).map((line) => ({ place, line })))
  expect(lines.length).toBeGreaterThan(150)
  const faults = lines.flatMap(({ place, line }) => {
    const fault = faultOf(line)
    return fault === undefined ? [] : [`${place}: isobot ${line}: ${fault}`]
  })
  expect(faults).toEqual([])
})

test('docs/command-line.md has a row for every command, with its sub-commands', async () => {
  const page = await readFile(join(root, 'docs', 'command-line.md'), 'utf8')
  const named = page
    .split('\n')
    .filter((line) => line.startsWith('| `isobot '))
    .flatMap((line) => {
      const codes = Array.from(line.split('|')[1]!.matchAll(/`([^`]+)`/g), ([, code = '']) =>
        code.replace('isobot ', ''),
      )
      const [first = ''] = codes
      const [command = ''] = first.split(' ')
      return [first, ...codes.slice(1).flatMap((code) => [code, `${command} ${code}`])]
    })
    .map((line) => line.replaceAll(/ ?[<[].*?[>\]]/g, ''))
  const all = program.commands.flatMap((command) =>
    command.commands.length === 0
      ? [command.name()]
      : command.commands.filter((one) => one.name() !== 'help').map((one) => `${command.name()} ${one.name()}`),
  )
  expect(
    all.filter((name) => name !== 'help' && !named.some((line) => line === name || line.startsWith(`${name} `))),
  ).toEqual([])
})
