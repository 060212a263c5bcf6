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

interface Scripted {
  identifier?: { extractScript?: string; fallbackHandlerScript?: string }
  configuration?: { identifier?: { linkTemplateScript?: string } }
  configurations?: Record<string, { identifier?: { linkTemplateScript?: string } } | null>
}

/** The text of a script in the definition of an integration; undefined where it has none. */
export function scriptOf(definition: Record<string, unknown>, name: ScriptName): string | undefined {
  const { identifier, configuration, configurations }: Scripted = definition
  return textOf(name) || undefined

  function textOf(script: ScriptName): string | undefined {
    if (script === 'identifier') return identifier?.extractScript
    if (script === 'fallback') return identifier?.fallbackHandlerScript
    if (script === 'link') return configuration?.identifier?.linkTemplateScript
    return configurations?.[script.slice('link of '.length)]?.identifier?.linkTemplateScript
  }
}

/** The name of the script that writes the link of a configuration. */
export function linkScript(configurationType: string | null): ScriptName {
  return configurationType === null ? 'link' : `link of ${configurationType}`
}
