/** The service's work: today's messages by state, requests, deliveries, and the traffic with chat platforms. */
import type { DeliveryView, JobView, PlatformView, RequestView } from '../../views.ts';
import { useView, type Versions } from '../data/live.ts';
import { Tabs } from '../tabs.tsx';
import { numberOf, Time } from '../text.tsx';
import { Funnel } from './funnel.tsx';

export const ServicePanel = ({ versions }: { versions: Versions }) => {
  const jobs = useView<JobView[]>('/view/funnel', versions.funnel);
  const requests = useView<RequestView[]>('/view/requests', versions.requests);
  const deliveries = useView<DeliveryView[]>('/view/deliveries', versions.phones);
  const platforms = useView<PlatformView[]>('/view/platforms', versions.platforms);
  return (
    <aside class="service" aria-labelledby="service">
      <h2 id="service">What the service does</h2>
      <Funnel jobs={jobs ?? []} />
      <Tabs
        label="Activity of the service"
        tabs={[
          { name: 'Requests', content: <Requests requests={requests ?? []} /> },
          { name: 'Deliveries', content: <Deliveries deliveries={deliveries ?? []} /> },
          { name: 'Platforms', content: <Platforms platforms={platforms ?? []} /> },
        ]}
      />
    </aside>
  );
};

const Requests = ({ requests }: { requests: RequestView[] }) =>
  requests.length === 0 ? (
    <p class="hint">Requests to the API appear here.</p>
  ) : (
    <table>
      <caption class="unseen">The last requests to the API, newest first</caption>
      <thead>
        <tr>
          <th scope="col">Time</th>
          <th scope="col">Request</th>
          <th scope="col">Status</th>
          <th scope="col">ms</th>
        </tr>
      </thead>
      <tbody>
        {requests.map(({ id, time, route, status, ms }) => (
          <tr key={id}>
            <td>
              <Time at={time} exact />
            </td>
            <td class="code">{route}</td>
            <td>
              <Outcome outcome={String(status)} taken={status < 400} />
            </td>
            <td>{ms}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );

const Deliveries = ({ deliveries }: { deliveries: DeliveryView[] }) =>
  deliveries.length === 0 ? (
    <p class="hint">Deliveries to phones appear here, with each attempt.</p>
  ) : (
    <ul class="entries">
      {deliveries.map(({ id, phone, what, attempts }) => (
        <li key={id}>
          <p class="line">
            <span class="code">{what}</span>
            <span>{phone ? numberOf(phone) : ''}</span>
          </p>
          <ol class="attempts" aria-label="Attempts">
            {attempts.map(({ time, outcome, taken }) => (
              <li key={time}>
                <Time at={time} exact /> <Outcome outcome={outcome} taken={taken} />
              </li>
            ))}
          </ol>
        </li>
      ))}
    </ul>
  );

const Platforms = ({ platforms }: { platforms: PlatformView[] }) => (
  <>
    {platforms.map(({ platform, line, got, sent }) => (
      <section key={platform + line}>
        <h3>
          {platform} <span class="quiet">{line}</span>
        </h3>
        <h4>Got from the service</h4>
        {got.length === 0 && <p class="hint">Nothing yet.</p>}
        <ul class="entries">
          {got.map(({ time, what, text, outcome, taken }) => (
            <li key={time + text} class="line">
              <span class="gist">
                <Time at={time} exact /> <span class="code">{what}</span> {text}
              </span>
              <Outcome outcome={outcome} taken={taken} />
            </li>
          ))}
        </ul>
        <h4>Sent to users</h4>
        {sent.length === 0 && <p class="hint">Nothing yet.</p>}
        <ul class="entries">
          {sent.map(({ to, text, status }, place) => (
            <li key={sent.length - place} class="line">
              <span class="gist">
                {numberOf(to)} {text}
              </span>
              <Outcome outcome={status} taken={status !== 'failed' && status !== 'errored'} />
            </li>
          ))}
        </ul>
      </section>
    ))}
  </>
);

const Outcome = ({ outcome, taken }: { outcome: string; taken: boolean }) => (
  <span class={`outcome ${taken || outcome === 'waiting' ? 'good' : 'bad'}`}>{outcome}</span>
);
