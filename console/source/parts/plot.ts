import UPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'

interface PlotOptions {
  width: number
  height: number
  kind: 'bars' | 'lines'
  /** The colour of each series. */
  tones: string[]
  /** Whether the times are those of UTC, and not of the browser's zone. */
  isUtc: boolean
  format: (value: number | null) => string
  /** Receives the index of the value at the pointer; undefined when the pointer leaves. */
  onPoint: (index: number | undefined) => void
}

const axisFont = '11px system-ui, sans-serif'
const axisSize = { x: 28, y: 54 }

/** Draws a chart in the colours of the page. Pages with charts load this module on demand. */
export function createPlot(element: HTMLElement, options: PlotOptions, data: UPlot.AlignedData): UPlot {
  const colour = (name: string) => resolveColour(element, `--chart-${name}`)
  const isBars = options.kind === 'bars'
  const axis: UPlot.Axis = {
    font: axisFont,
    stroke: colour('text'),
    grid: { stroke: colour('grid'), width: 1 },
    ticks: { show: false },
  }
  const toSeries = (tone: string): UPlot.Series => ({
    stroke: colour(tone),
    width: isBars ? 0 : 1.75,
    points: { show: false, filter: isBars ? () => null : lonely, size: 4, fill: colour(tone) },
    paths: isBars ? UPlot.paths.bars!({ size: [0.7, 28], radius: 0.15 }) : UPlot.paths.linear!(),
    ...(isBars && { fill: colour(tone) }),
  })
  return new UPlot(
    {
      width: options.width,
      height: options.height,
      // The right padding holds half of the label of a time at the edge.
      padding: [10, 24, 0, 0],
      legend: { show: false },
      ...(options.isUtc && { tzDate: (seconds) => UPlot.tzDate(new Date(seconds * 1000), 'UTC') }),
      cursor: { y: false, points: { show: !isBars, size: 7 }, drag: { x: false, y: false } },
      scales: {
        x: { range: (_plot, first, last) => (isBars ? widened(data[0], first, last) : [first, last]) },
        y: { range: (_plot, _low, high) => [0, high > 0 ? high * 1.1 : 1] },
      },
      axes: [
        {
          ...axis,
          size: axisSize.x,
          grid: { show: false },
          values: (_plot, splits) => splits.map(timeLabel(data[0], options.isUtc)),
        },
        {
          ...axis,
          size: axisSize.y,
          values: (_plot, splits) => splits.map((value) => (isBars && value % 1 ? '' : options.format(value))),
        },
      ],
      series: [{}, ...options.tones.map(toSeries)],
      hooks: { setCursor: [(plot) => options.onPoint(plot.cursor.idx ?? undefined)] },
    },
    data,
    element,
  )
}

/** Widens the range by half a bar at both ends, because bars are centred on their times. */
function widened(times: ArrayLike<number>, first: number, last: number): [number, number] {
  const half = (times[1]! - times[0]!) / 2
  return [first - half, last + half]
}

/** Resolves a CSS variable, because a canvas does not know the page's variables or theme. */
function resolveColour(element: HTMLElement, variable: string): string {
  element.style.color = `var(${variable})`
  const { color } = getComputedStyle(element)
  element.style.color = ''
  return color
}

/** The indexes of values between gaps. Such a value has no line and is drawn as a point. */
function lonely(plot: UPlot, series: number): number[] {
  const values = plot.data[series] ?? []
  const indexes: number[] = []
  values.forEach((value, index) => {
    if (value != null && values[index - 1] == null && values[index + 1] == null) indexes.push(index)
  })
  return indexes
}

/** Labels dates where the chart spans more than two days, else times of day. */
function timeLabel(times: ArrayLike<number>, isUtc: boolean): (seconds: number) => string {
  const isLong = times[times.length - 1]! - times[0]! > 2 * 86_400
  const format = new Intl.DateTimeFormat(undefined, {
    ...(isLong ? { month: 'short', day: 'numeric' } : { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' }),
    ...(isUtc && { timeZone: 'UTC' }),
  })
  return (seconds) => format.format(new Date(seconds * 1000))
}
