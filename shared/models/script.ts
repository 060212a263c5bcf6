/** Scripts of an integration, in the Vector Remap Language. */
export type ScriptName =
  /** Finds the identifier of the installation that a request to the address of all installations is for. */
  | 'identifier'
  /** Answers such a request where no installation has the identifier. */
  | 'fallback'
  /** Writes the address at which the authorization of an installation begins; of the default configuration. */
  | 'link'
  /** The same, of a named configuration. */
  | `link of ${string}`

/** The outcome of a script. The reason of a failure is for the author of the integration. */
export type ScriptOutcome = { status: 'completed'; result: unknown } | { status: 'failed'; reason: string }

/** The outcome of the compilation of a script, with the first of its faults. */
export type ScriptCompilation =
  | { status: 'compiled' }
  | { status: 'faulty'; line: number; column: number; message: string; faults: number }
  | { status: 'failed'; reason: string }

/** By the paths of the scripts' fields. Those that there was no time for are absent. */
export type ScriptCompilations = Record<string, ScriptCompilation>

interface Scripted {
  identifier?: { extractScript?: string | null; fallbackHandlerScript?: string | null }
  configuration?: { identifier?: { linkTemplateScript?: string | null } }
  configurations?: Record<string, { identifier?: { linkTemplateScript?: string | null } } | null>
}

/** The text of a script in the definition of an integration; undefined where it has none. */
export function scriptOf(definition: Record<string, unknown>, name: ScriptName): string | undefined {
  const { identifier, configuration, configurations }: Scripted = definition
  return textOf(name) || undefined

  function textOf(script: ScriptName): string | null | undefined {
    if (script === 'identifier') return identifier?.extractScript
    if (script === 'fallback') return identifier?.fallbackHandlerScript
    if (script === 'link') return configuration?.identifier?.linkTemplateScript
    return configurations?.[script.slice('link of '.length)]?.identifier?.linkTemplateScript
  }
}

/** The scripts in a definition, or in a change of one, by the paths of their fields. */
export function scriptsIn({ identifier, configuration, configurations = {} }: Scripted): Record<string, string> {
  const fields: [path: string, text: string | null | undefined][] = [
    ['identifier.extractScript', identifier?.extractScript],
    ['identifier.fallbackHandlerScript', identifier?.fallbackHandlerScript],
    ['configuration.identifier.linkTemplateScript', configuration?.identifier?.linkTemplateScript],
  ]
  for (const [name, other] of Object.entries(configurations)) {
    fields.push([`configurations.${name}.identifier.linkTemplateScript`, other?.identifier?.linkTemplateScript])
  }
  return Object.fromEntries(fields.filter((field): field is [string, string] => Boolean(field[1])))
}

/** The name of the script that writes the link of a configuration. */
export function linkScript(configurationType: string | null): ScriptName {
  return configurationType === null ? 'link' : `link of ${configurationType}`
}
