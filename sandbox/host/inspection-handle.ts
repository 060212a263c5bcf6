import type { Bundle, BundleKind, Inspection, Json, Limits } from '../protocol/contract.ts'
import type { Failure, Handle } from './handle.ts'
import { parseUntrustedJson } from '../protocol/parse-json.ts'

export interface InspectionHandle extends Handle {
  readonly inspection: Promise<Inspection>
}

/** Follows one inspection from the worker's side; `hooks` are the names a bundle may declare. */
export function inspectionHandle(
  id: string,
  bundle: Bundle,
  limits: Limits,
  hooks: readonly string[],
): InspectionHandle {
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
    inspection,
    get ended() {
      return ended
    },
    begin: () => ({ type: 'inspect', run: id, bundle: bundle.id, limits }),
    log: () => false,
    answer: async () => '{"status":403,"body":null}',
    fetch: async () => ({
      answer: '{"failure":"forbidden","message":"Nothing is requested in an inspection"}',
      body: '',
    }),
    abortFetch() {},
    pull: () => false,
    cancel: () => false,
    done: (result) => end(toInspection(result, bundle.kind ?? 'native', hooks)),
    fail: ({ reason, error, hook }: Failure) => end({ status: 'refused', reason, error, ...(hook ? { hook } : {}) }),
    interrupt: (reason) => end({ status: 'interrupted', reason }),
  }
}

function toInspection(text: string, given: BundleKind, known: readonly string[]): Inspection {
  const declared = toDeclaration(text, given)
  const stranger = declared.hooks.find((hook) => !known.includes(hook))
  if (stranger === undefined) return { status: 'accepted', ...declared }
  const message = `There is no hook called ${stranger}. The hooks are: ${known.join(', ')}`
  return { status: 'refused', reason: 'error', error: { name: 'TypeError', message }, hook: stranger }
}

type Declaration = Omit<Extract<Inspection, { status: 'accepted' }>, 'status'>

const exportable = ['register', 'unregister', 'handler']

/** Takes nothing but the expected: what the kernel inside wrote, the bundle may have tampered with. */
function toDeclaration(text: string, given: BundleKind): Declaration {
  const declared = parseUntrustedJson(text) as Record<string, Json | undefined>
  const { kind, hooks, actions, exports, channels, retry } = declared
  return {
    kind: given === 'sdk' && kind === 'sdk' ? 'sdk' : 'native',
    hooks: toNames(hooks),
    actions: toNames(actions),
    exports: toNames(exports).filter((name) => exportable.includes(name)),
    channels: toNames(channels),
    ...(retry === undefined ? {} : { retry }),
  }
}

function toNames(names: Json | undefined): string[] {
  return Array.isArray(names) ? names.filter((name) => typeof name === 'string') : []
}
