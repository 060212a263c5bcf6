import type { Prelude } from '../../isolate/platform.ts'
import { defineLazily } from '../lazy-globals.ts'
import { createMessageEvents } from '../message-events.ts'
import { createChannels } from '../message-port.ts'
import { createNavigation, createRegistry, createWebSocket, nameCrypto } from '../named-only.ts'
import { createTimeline } from '../performance.ts'

/** Defines globals that bundles name and hardly ever use. Each is made when code asks for it. */
export const install: Prelude = () => {
  const clock = performance
  defineLazily(['MessageEvent', 'CloseEvent'], createMessageEvents)
  defineLazily(['BroadcastChannel', 'MessageChannel', 'MessagePort'], () => createChannels(MessageEvent))
  defineLazily(
    [
      'performance',
      'Performance',
      'PerformanceEntry',
      'PerformanceMark',
      'PerformanceMeasure',
      'PerformanceObserver',
      'PerformanceObserverEntryList',
      'PerformanceResourceTiming',
    ],
    () => createTimeline(clock),
  )
  defineLazily(['Navigator', 'navigator'], createNavigation)
  defineLazily(['Crypto'], nameCrypto)
  defineLazily(['FinalizationRegistry'], createRegistry)
  defineLazily(['WebSocket'], createWebSocket)
  return undefined
}
