import type { Bundle, BundleKind, Inspection, Json, Limits } from '../protocol/contract.ts'
import { RunBudget } from './run-budget.ts'
import type { RunHandle } from './run-handle.ts'
import { parseUntrustedJson } from '../protocol/parse-json.ts'

/** Makes the run handle of one inspection; `hooks` are the names that a bundle may declare. */
export function inspectionHandle(
  id: string,
  bundle: Bundle,
  limits: Limits,
  hooks: readonly string[],
): RunHandle & { readonly inspection: Promise<Inspection> } {
  const { promise: inspection, resolve } = Promise.withResolvers<Inspection>()
  let ended = false

  const end = (how: Inspection) => {
    ended = true
    resolve(how)
  }

  return {
    id,
    bundle,
    limits,
    runTree: id,
    budget: new RunBudget(limits),
    inspection,
    get ended() {
      return ended
    },
    begin: () => ({ type: 'inspect', run: id, bundle: bundle.id, limits }),
    done(result) {
      try {
        end(toInspection(result, bundle.kind ?? 'native', hooks))
      } catch {
        const error = { name: 'ResultError', message: 'The declaration of the bundle cannot be read' }
        end({ status: 'refused', reason: 'result', error })
      }
    },
    fail: ({ reason, error, hook }) => end({ status: 'refused', reason, error, ...(hook ? { hook } : {}) }),
    interrupt: (reason) => end({ status: 'interrupted', reason }),
  }
}

function toInspection(text: string, given: BundleKind, known: readonly string[]): Inspection {
  const declared = toDeclaration(text, given)
  const unknown = declared.hooks.find((hook) => !known.includes(hook))
  if (unknown === undefined) return { status: 'accepted', ...declared }
  const message = `There is no hook '${unknown}'. The hooks are: ${known.join(', ')}`
  return { status: 'refused', reason: 'error', error: { name: 'TypeError', message }, hook: unknown }
}

type Declaration = Omit<Extract<Inspection, { status: 'accepted' }>, 'status'>

const exportable = ['register', 'unregister', 'handler']

/**
 * Reads only the expected fields: a compromised process can send any text.
 *
 * @throws SyntaxError or TypeError when the text is not a declaration
 */
function toDeclaration(text: string, given: BundleKind): Declaration {
  const declared = parseUntrustedJson(text)
  if (typeof declared !== 'object' || declared === null || Array.isArray(declared)) throw new TypeError('no object')
  const { kind, hooks, actions, exports, channels, retry, actionDefinitions, flows } = declared as Record<
    string,
    Json | undefined
  >
  return {
    kind: given === 'sdk' && kind === 'sdk' ? 'sdk' : 'native',
    hooks: toNames(hooks),
    actions: toNames(actions),
    exports: toNames(exports).filter((name) => exportable.includes(name)),
    channels: toNames(channels),
    ...(retry === undefined ? {} : { retry }),
    ...(actionDefinitions === undefined ? {} : { actionDefinitions }),
    ...(flows === undefined ? {} : { flows }),
  }
}

function toNames(names: Json | undefined): string[] {
  return Array.isArray(names) ? names.filter((name) => typeof name === 'string') : []
}
