import { SpanKind } from '@opentelemetry/api'
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  ParentBasedSampler,
  SamplingDecision,
  TraceIdRatioBasedSampler,
  type Sampler,
} from '@opentelemetry/sdk-trace'
import type { Config } from '../config/config.ts'

/** Operations that BullMQ repeats whether there are jobs or not, and operations that add nothing to a job's span. */
const idle = /^(getNextJob|extendLocks|moveStalledJobsToWait|startStalledCheckTimer|close|pause|resume)\b/

/** The sampler that OTEL_TRACES_SAMPLER names, without the queue's housekeeping. */
export function samplerOf({ sampler, ratio }: NonNullable<Config['tracing']>): Sampler {
  const chosen = create(sampler, ratio)
  return {
    shouldSample(context, traceId, name, kind, attributes, links) {
      if (kind === SpanKind.INTERNAL && idle.test(name)) return { decision: SamplingDecision.NOT_RECORD }
      return chosen.shouldSample(context, traceId, name, kind, attributes, links)
    },
    toString: () => chosen.toString(),
  }
}

function create(sampler: NonNullable<Config['tracing']>['sampler'], ratio: number): Sampler {
  switch (sampler) {
    case 'always_on':
      return new AlwaysOnSampler()
    case 'always_off':
      return new AlwaysOffSampler()
    case 'traceidratio':
      return new TraceIdRatioBasedSampler(ratio)
    case 'parentbased_always_on':
      return new ParentBasedSampler({ root: new AlwaysOnSampler() })
    case 'parentbased_always_off':
      return new ParentBasedSampler({ root: new AlwaysOffSampler() })
    case 'parentbased_traceidratio':
      return new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(ratio) })
  }
}
