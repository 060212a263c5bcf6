import type { Command } from 'commander'
import { readDuration } from '../duration.ts'
import { exitCodes, misused } from '../failure.ts'
import { localTime, table } from '../output.ts'
import { readCount } from '../read-count.ts'
import { toolsOf } from '../tools.ts'
import { addMove } from './files-move.ts'

export function addFilesCommand(program: Command): void {
  const files = program
    .command('files')
    .summary('list, upload, download, search and delete the files of a bot')
    .description('The files of a bot. A FILE is an id or a key.')
    .addHelpText('after', '\nExample:\n  $ isobot files upload greeter handbook.pdf --index\n')
  addList(files)
  addUpload(files)
  addDownload(files)
  addSearch(files)
  addDelete(files)
  addMove(files)
}

const botArgument = ['<bot>', 'the bot’s id or name'] as const
const tagOption = ['--tag <name=value>', 'only files with this tag; repeatable', collect] as const

function collect(value: string, former: string[] = []): string[] {
  return [...former, value]
}

/** @throws Failure when one is not of the form `name=value` */
function readTags(given: readonly string[] = []): Record<string, string> {
  const entries = given.map((text) => {
    const [, name, value] = /^([^=]+)=(.*)$/s.exec(text) ?? []
    if (name === undefined || value === undefined) throw misused(`--tag takes name=value, not "${text}"`)
    return [name, value] as const
  })
  return Object.fromEntries(entries)
}

function addList(files: Command): void {
  files
    .command('list')
    .argument(...botArgument)
    .description('Lists the files of a bot, the newest first.')
    .option(...tagOption)
    .option('-n, --lines <number>', 'the number of files', '20')
    .addHelpText(
      'after',
      '\nExample:\n  $ isobot files list greeter --tag topic=shop\n  $ isobot files list greeter --json | jq -r .files[].key\n',
    )
    .action(async (idOrName: string, options: { tag?: string[]; lines: string }, command: Command) => {
      const { output, connect } = toolsOf(command)
      const [tags, limit] = [readTags(options.tag), readCount(options.lines)]
      const [{ findBot }, { listFiles, sizeOf }] = await Promise.all([
        import('../find-bot.ts'),
        import('../files/bot-files.ts'),
      ])
      const connection = await connect()
      const { id, name } = await findBot(connection, idOrName)
      const found = await output.during('Listing files', listFiles(connection, id, tags, limit))
      output.result({ botId: id, files: found }, () => {
        if (found.length === 0) return `${name} has no such files`
        const rows = found.map(({ key, id, size, status, updatedAt }) => [
          key,
          id,
          sizeOf(size),
          status,
          localTime(updatedAt),
        ])
        return table(['KEY', 'ID', 'SIZE', 'STATUS', 'UPDATED'], rows)
      })
    })
}

interface UploadOptions {
  key?: string
  tag?: string[]
  index?: boolean
  public?: boolean
  contentType?: string
  wait: string
}

function addUpload(files: Command): void {
  files
    .command('upload')
    .argument(...botArgument)
    .argument('<path>', 'the file; - is standard input')
    .description(
      'Uploads a file, or replaces the one of the same key with its content, tags and policies. With --index, the command ' +
        'waits until searches find it.',
    )
    .option('--key <key>', 'its name in the bot (default: the name of the file)')
    .option('--tag <name=value>', 'a tag; repeatable', collect)
    .option('--index', 'let searches find its text')
    .option('--public', 'let everybody who has its address read it')
    .option('--content-type <type>', 'the content type (default: that of the key’s extension)')
    .option('--wait <time>', 'with --index: how long to wait for the outcome', '60s')
    .addHelpText(
      'after',
      '\nExample:\n  $ isobot files upload greeter handbook.pdf --key docs/handbook.pdf --tag topic=work --index\n' +
        '  $ pg_dump shop | isobot files upload greeter - --key dump.sql\n',
    )
    .action(async (idOrName: string, path: string, options: UploadOptions, command: Command) => {
      const { output, connect } = toolsOf(command)
      const [tags, wait] = [readTags(options.tag), readDuration(options.wait)]
      const [{ findBot }, { uploadFile, untilIndexed, sizeOf }, { openContent }] = await Promise.all([
        import('../find-bot.ts'),
        import('../files/bot-files.ts'),
        import('../files/content.ts'),
      ])
      await using content = await openContent(path, options.key)
      const { index = false, contentType } = options
      const fields = {
        tags,
        index,
        ...(contentType !== undefined && { contentType }),
        ...(options.public && { accessPolicies: ['public_content'] }),
      }
      const connection = await connect()
      const { id: botId } = await findBot(connection, idOrName)
      const uploaded = await output.during('Uploading', uploadFile(connection, botId, content, fields))
      const file = index
        ? await output.during('Indexing', untilIndexed(connection, botId, uploaded, Date.now() + wait))
        : uploaded
      if (file.status === 'indexing_failed') process.exitCode = exitCodes.failed
      const { key, id, size, status, failedStatusReason: reason } = file
      output.result(
        { file },
        `Uploaded ${key} (${id}), ${sizeOf(size)}: ${status}${reason === undefined ? '' : `, ${reason}`}`,
      )
    })
}

function addDownload(files: Command): void {
  files
    .command('download')
    .argument(...botArgument)
    .argument('<file>', 'the file’s id or key')
    .argument('[path]', 'where to; - is standard output (default: the last part of the key)')
    .description('Downloads the content of a file. A file of that name on this machine is replaced when all has come.')
    .addHelpText('after', '\nExample:\n  $ isobot files download greeter docs/handbook.pdf -\n')
    .action(async (idOrName: string, idOrKey: string, path: string | undefined, _options: object, command: Command) => {
      const { output, connect } = toolsOf(command)
      const [{ findBot }, { getFile, sizeOf }, { saveContent, defaultPath }] = await Promise.all([
        import('../find-bot.ts'),
        import('../files/bot-files.ts'),
        import('../files/content.ts'),
      ])
      const connection = await connect()
      const { id: botId } = await findBot(connection, idOrName)
      const file = await getFile(connection, botId, idOrKey)
      const target = path ?? defaultPath(file.key)
      await output.during('Downloading', saveContent(file, target))
      if (target === '-') return
      output.result({ file, path: target }, `Downloaded ${file.key} to ${target}, ${sizeOf(file.size)}`)
    })
}

function addSearch(files: Command): void {
  files
    .command('search')
    .argument(...botArgument)
    .argument('<question...>', 'a question, or words')
    .description('Finds the passages of a bot’s indexed files that match best, as its code finds them.')
    .option(...tagOption)
    .option('-n, --lines <number>', 'the number of passages', '5')
    .addHelpText('after', '\nExample:\n  $ isobot files search greeter When is the shop open?\n')
    .action(async (idOrName: string, words: string[], options: { tag?: string[]; lines: string }, command: Command) => {
      const { output, connect } = toolsOf(command)
      const [tags, limit] = [readTags(options.tag), readCount(options.lines)]
      const [{ findBot }, { searchFiles, formatPassages }] = await Promise.all([
        import('../find-bot.ts'),
        import('../files/search.ts'),
      ])
      const connection = await connect()
      const { id } = await findBot(connection, idOrName)
      const search = searchFiles(connection, id, { query: words.join(' '), tags, limit })
      const passages = await output.during('Searching', search)
      output.result({ botId: id, passages }, () => formatPassages(passages))
    })
}

function addDelete(files: Command): void {
  files
    .command('delete')
    .argument(...botArgument)
    .argument('<file>', 'the file’s id or key')
    .description('Deletes a file with its content, after a confirmation.')
    .option('-y, --yes', 'skip the confirmation')
    .addHelpText('after', '\nExample:\n  $ isobot files delete greeter docs/handbook.pdf --yes\n')
    .action(async (idOrName: string, idOrKey: string, { yes = false }: { yes?: boolean }, command: Command) => {
      const { output, connect } = toolsOf(command)
      const [{ findBot }, { confirm }, { deleteFile, getFile }] = await Promise.all([
        import('../find-bot.ts'),
        import('../confirm.ts'),
        import('../files/bot-files.ts'),
      ])
      const connection = await connect()
      const { id: botId, name } = await findBot(connection, idOrName)
      const { id, key } = await getFile(connection, botId, idOrKey)
      await confirm(`Delete the file ${key} (${id}) of ${name}?`, yes)
      await deleteFile(connection, botId, id)
      output.result({ deleted: { id, key } }, `Deleted ${key} (${id})`)
    })
}
