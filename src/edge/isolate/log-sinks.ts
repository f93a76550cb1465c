/** The sinks that the environment names, and where verdicts go that the service could not take. */
import type { ServiceClock } from '../../logsink/service-clock.ts';
import type { VerdictSink } from '../../logsink/sink.ts';
import { analyticsEngineSink } from '../../logsink/sinks/analytics-engine.ts';
import { consoleSink } from '../../logsink/sinks/console.ts';
import { httpSink } from '../../logsink/sinks/http.ts';
import { queueSink } from '../../logsink/sinks/queue.ts';
import { r2Sink } from '../../logsink/sinks/r2.ts';
import { serviceSink } from '../../logsink/sinks/service.ts';
import type { EdgeEnvironment } from '../environment.ts';

export function sinksOf(
  environment: EdgeEnvironment,
  clock: ServiceClock,
): { sinks: VerdictSink[]; fallback?: VerdictSink } {
  const { serviceUrl, service, rules, queue, logBucket, analytics, logUrl, logAuthorization } = environment;
  const call = (url: string, init: RequestInit): Promise<Response> =>
    service && url.startsWith(`${serviceUrl}/`) ? service.fetch(url, init) : fetch(url, init);
  const sinks = environment.sinks.flatMap((name): VerdictSink[] => {
    switch (name) {
      case 'service':
        return rules.kind === 'service'
          ? [serviceSink({ serviceUrl, clientJwt: rules.clientJwt, fetch: call, clock })]
          : [];
      case 'queue':
        return queue ? [queueSink(queue)] : [];
      case 'r2':
        return logBucket ? [r2Sink(logBucket)] : [];
      case 'analytics-engine':
        return analytics ? [analyticsEngineSink(analytics)] : [];
      case 'http':
        return logUrl
          ? [
              httpSink({
                url: logUrl,
                fetch: call,
                ...(logAuthorization ? { headers: { authorization: logAuthorization } } : {}),
              }),
            ]
          : [];
      case 'console':
        return [consoleSink];
    }
  });
  return queue && environment.sinks.includes('service') ? { sinks, fallback: queueSink(queue) } : { sinks };
}
