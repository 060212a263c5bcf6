import type { JSX } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import type UPlot from 'uplot'
import { formatAbsolute, formatMoment, formatSpan, type Span } from '../format.ts'
import { loadPart } from './load-part.ts'
import { Refusal } from './loaded.tsx'
import { isDark } from '../state/theme.ts'

interface Series {
  label: string
  tone: 'accent' | 'bad' | 'second' | 'quiet'
  values: (number | null)[]
}

interface ChartProps {
  title: string
  /** Seconds since 1970, one for each value. */
  times: number[]
  /** The length of time that each value covers; absent: values are of moments. */
  span?: Span
  /** `bars` are stacked. */
  kind: 'bars' | 'lines'
  series: Series[]
  format: (value: number | null) => string
}

const height = 176

/** A chart over time. Its legend shows the values at the pointer, else the latest. */
export function Chart({ title, times, span, kind, series, format }: ChartProps): JSX.Element {
  const element = useRef<HTMLDivElement>(null)
  const plot = useRef<UPlot>(undefined)
  const [pointed, setPointed] = useState<number>()
  const [error, setError] = useState<unknown>()
  const [round, setRound] = useState(0)
  const values = kind === 'bars' ? stacked(series) : series.map(({ values }) => values)
  const data = [times, ...values] as UPlot.AlignedData
  const latest = useRef(data)
  latest.current = data

  useEffect(() => {
    const container = element.current!
    let isGone = false
    setError(undefined)
    const resize = new ResizeObserver(() => plot.current?.setSize({ width: container.clientWidth, height }))
    const open = async () => {
      const { createPlot } = await loadPart(() => import('./plot.ts'))
      if (isGone) return
      const looks = { width: container.clientWidth, height, kind, tones: series.map(({ tone }) => tone) }
      const options = { ...looks, isUtc: span !== undefined, format, onPoint: setPointed }
      plot.current = createPlot(container, options, latest.current)
      resize.observe(container)
    }
    open().catch((reason: unknown) => !isGone && setError(reason))
    return () => {
      isGone = true
      resize.disconnect()
      plot.current?.destroy()
      plot.current = undefined
    }
  }, [kind, isDark.value, round])
  useEffect(() => plot.current?.setData(data))

  const shown = Math.min(pointed ?? Infinity, times.length - 1)
  const at = new Date((times[shown] ?? 0) * 1000).toISOString()
  return (
    <figure class="chart-figure">
      <figcaption>
        <h2>{title}</h2>
        {span === undefined ? (
          <time class="quiet" dateTime={at} title={formatAbsolute(at)}>
            {formatMoment(at)}
          </time>
        ) : (
          <time class="quiet" dateTime={at.slice(0, 10)} title={`In UTC, from ${at.slice(0, 10)}`}>
            {formatSpan(at, span)}
          </time>
        )}
        <ul class="plain legend">
          {series.map(({ label, tone, values }) => (
            <li key={label}>
              <i style={{ background: `var(--chart-${tone})` }} />
              {label} <b>{format(values[shown] ?? null)}</b>
            </li>
          ))}
        </ul>
      </figcaption>
      {error !== undefined && <Refusal error={error} reload={() => setRound(round + 1)} />}
      <div ref={element} style={{ height: `${height}px` }} />
    </figure>
  )
}

/** Cumulative sums from the last series to the first: the first is drawn first, with the height of the whole stack. */
function stacked(series: Series[]): number[][] {
  return series.map((_, index) =>
    series[0]!.values.map((_, at) => series.slice(index).reduce((sum, { values }) => sum + (values[at] ?? 0), 0)),
  )
}
