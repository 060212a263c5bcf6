import { toOptions } from './options.ts'
import { unavailable } from './unavailable.ts'

const construct = Symbol('construct')

/** Upper bound of the entries that a timeline keeps; the oldest ones give way, because isolates live long. */
const maxEntries = 1000

const notObserved = 'use performance.getEntries()'

interface Clock {
  readonly timeOrigin: number
  now(this: void): number
}

type EntryType = 'mark' | 'measure'

interface Entry {
  name: string
  entryType: EntryType
  startTime: number
  duration: number
}

interface MarkOptions {
  startTime?: number
  detail?: unknown
}

interface MeasureOptions {
  start?: number | string
  end?: number | string
  duration?: number
  detail?: unknown
}

/** The web's `PerformanceEntry`. */
class PerformanceEntry {
  readonly #entry: Entry

  constructor(key: symbol, entry: Entry) {
    if (key !== construct) throw new TypeError('Illegal constructor')
    this.#entry = entry
  }

  get name(): string {
    return this.#entry.name
  }

  get entryType(): EntryType {
    return this.#entry.entryType
  }

  get startTime(): number {
    return this.#entry.startTime
  }

  get duration(): number {
    return this.#entry.duration
  }

  toJSON(): object {
    return { ...this.#entry }
  }

  get [Symbol.toStringTag](): string {
    return 'PerformanceEntry'
  }
}

/** The web's `PerformanceMark`. */
class PerformanceMark extends PerformanceEntry {
  readonly #detail: unknown

  constructor(name: string, options?: MarkOptions | null) {
    const { startTime = performance.now(), detail } = toOptions(options) as MarkOptions
    if (startTime < 0) throw new TypeError('The start of a mark cannot be negative')
    super(construct, { name, entryType: 'mark', startTime, duration: 0 })
    this.#detail = copyOf(detail)
  }

  get detail(): unknown {
    return this.#detail
  }

  override toJSON(): object {
    return { ...super.toJSON(), detail: this.#detail }
  }

  override get [Symbol.toStringTag](): string {
    return 'PerformanceMark'
  }
}

/** The web's `PerformanceMeasure`. */
class PerformanceMeasure extends PerformanceEntry {
  readonly #detail: unknown

  constructor(key: symbol, entry: Entry, detail?: unknown) {
    super(key, entry)
    this.#detail = copyOf(detail)
  }

  get detail(): unknown {
    return this.#detail
  }

  override toJSON(): object {
    return { ...super.toJSON(), detail: this.#detail }
  }

  override get [Symbol.toStringTag](): string {
    return 'PerformanceMeasure'
  }
}

function copyOf(detail: unknown): unknown {
  return detail === undefined ? null : structuredClone(detail)
}

/** Makes the global `performance` with a timeline, on a clock, and the classes that belong to it. */
export function createTimeline({ timeOrigin, now }: Clock): Record<string, unknown> {
  /** The web's `Performance`: a clock, and a timeline of marks and measures. */
  class Performance extends EventTarget {
    readonly timeOrigin: number
    readonly #now: () => number
    #entries: PerformanceEntry[] = []

    constructor(key?: symbol, clock?: Clock) {
      super()
      if (key !== construct) throw new TypeError('Illegal constructor')
      this.timeOrigin = clock!.timeOrigin
      this.#now = clock!.now
    }

    now(): number {
      return this.#now()
    }

    mark(name: string, options?: MarkOptions): PerformanceMark {
      return this.#add(new PerformanceMark(name, options))
    }

    /** @throws DOMException named SyntaxError for a mark that does not exist */
    measure(name: string, startOrOptions: string | MeasureOptions = {}, end?: string): PerformanceMeasure {
      const options = typeof startOrOptions === 'string' ? { start: startOrOptions, end } : { end, ...startOrOptions }
      const { duration, detail } = options as MeasureOptions
      const given = { start: this.#timeOf(options.start), end: this.#timeOf(options.end) }
      const until =
        given.end ?? (given.start !== undefined && duration !== undefined ? given.start + duration : this.now())
      const startTime = given.start ?? (duration === undefined ? 0 : until - duration)
      const entry: Entry = { name, entryType: 'measure', startTime, duration: until - startTime }
      return this.#add(new PerformanceMeasure(construct, entry, detail))
    }

    clearMarks(name?: string): void {
      this.#clear('mark', name)
    }

    clearMeasures(name?: string): void {
      this.#clear('measure', name)
    }

    getEntries(): PerformanceEntry[] {
      return this.#entries.toSorted((one, other) => one.startTime - other.startTime)
    }

    getEntriesByName(name: string, type?: string): PerformanceEntry[] {
      return this.getEntries().filter(
        (entry) => entry.name === name && (type === undefined || entry.entryType === type),
      )
    }

    getEntriesByType(type: string): PerformanceEntry[] {
      return this.getEntries().filter(({ entryType }) => entryType === type)
    }

    /** The platform's timings are not those of the code's own requests: none are kept. */
    markResourceTiming(): void {}

    clearResourceTimings(): void {}

    setResourceTimingBufferSize(): void {}

    eventLoopUtilization(): object {
      return { idle: 0, active: 0, utilization: 0 }
    }

    timerify<Function>(measured: Function): Function {
      return measured
    }

    toJSON(): object {
      return { timeOrigin: this.timeOrigin }
    }

    get [Symbol.toStringTag](): string {
      return 'Performance'
    }

    #add<Added extends PerformanceEntry>(entry: Added): Added {
      this.#entries.push(entry)
      if (this.#entries.length > maxEntries) this.#entries.shift()
      return entry
    }

    #clear(type: EntryType, name: string | undefined): void {
      this.#entries = this.#entries.filter(
        (entry) => entry.entryType !== type || (name !== undefined && entry.name !== name),
      )
    }

    #timeOf(given: number | string | undefined): number | undefined {
      if (given === undefined || typeof given === 'number') return given
      const mark = this.#entries.findLast(({ name, entryType }) => entryType === 'mark' && name === given)
      if (!mark) throw new DOMException(`The mark "${given}" has not been set`, 'SyntaxError')
      return mark.startTime
    }
  }

  return {
    performance: new Performance(construct, { timeOrigin, now }),
    Performance,
    PerformanceEntry,
    PerformanceMark,
    PerformanceMeasure,
    PerformanceObserver: Object.assign(unavailable('PerformanceObserver', notObserved), { supportedEntryTypes: [] }),
    PerformanceObserverEntryList: unavailable('PerformanceObserverEntryList', notObserved),
    PerformanceResourceTiming: unavailable('PerformanceResourceTiming', notObserved),
  }
}
