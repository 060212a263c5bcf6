/** A package that is published from this repository. */
export interface PublishedPackage {
  name: string
  description: string
  /** Its folder below the output, and its page for the registry in this folder. */
  folder: string
  /** Modules that it starts with, relative to the root. */
  entries: string[]
  /** Modules that it goes without. */
  without: string[]
  /** Files and folders that it has as they are in the repository. */
  files: string[]
  /** Files by path in the package that are elsewhere in the repository. */
  moved: Record<string, string>
  /** Installed packages that its modules find by name, and that it does not depend on. */
  omitted: string[]
  /** Whether it brings the Node that it needs, of 190 MB. */
  bringsNode: boolean
  /** Whether it has what the worker builds from the sandbox's sources, for its large programs too. */
  programs: ('programs' | 'modules' | 'extractor' | 'scripts')[]
}

const commandLine = ['cli/isobot.js', 'cli/author-test.ts']
const forAuthors = ['bot/index.d.ts', 'bot/test.d.ts', 'bot/flow.schema.json', 'templates', 'LICENSE']

/** Those of the command line that need the platform's own database, Redis or processes. */
const platformOnly = [
  'cli/start.ts',
  'cli/doctor/examine.ts',
  'cli/files/open-stores.ts',
  ...['open-platform', 'write-backup', 'open-backup', 'restore-backup'].map((name) => `cli/backup/${name}.ts`),
]

/** The files that the page of the API takes from `swagger-ui-dist`. */
const renderer = Object.fromEntries(
  ['swagger-ui-bundle.js', 'swagger-ui.css', 'favicon-32x32.png', 'LICENSE', 'NOTICE'].map((name) => [
    `api/docs/renderer/${name}`,
    `node_modules/swagger-ui-dist/${name}`,
  ]),
)

export const publishedPackages: PublishedPackage[] = [
  {
    name: 'isobot',
    description: 'A self-hosted bot platform with its command line: `npx isobot start` runs it.',
    folder: 'isobot',
    entries: [...commandLine, 'api/main.js', 'worker/main.js', 'migrations/migrate.js'],
    without: [],
    files: [...forAuthors, 'api/docs', 'console/dist', 'examples/echo.js', 'docs', 'CHANGELOG.md', 'Procfile'],
    moved: { 'README.md': 'cli/publish/isobot.md', ...renderer },
    omitted: ['swagger-ui-dist'],
    bringsNode: true,
    programs: ['programs', 'modules', 'extractor', 'scripts'],
  },
  {
    name: '@isobot/cli',
    description: 'The command line of Isobot without the platform: creates, tests and deploys bots.',
    folder: 'cli',
    entries: commandLine,
    without: platformOnly,
    files: forAuthors,
    moved: { 'README.md': 'cli/publish/cli.md' },
    omitted: [],
    // Authors with an older Node install a newer one beside it.
    bringsNode: false,
    programs: ['programs', 'modules'],
  },
]
