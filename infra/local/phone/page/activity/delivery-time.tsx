/** How long the last messages took from acceptance to delivery. */
import { median, milliseconds, percentile } from '../text.tsx';

export const DeliveryTime = ({ times }: { times: number[] }) => {
  const most = Math.max(1, ...times);
  const slow = percentile(times, 95);
  return (
    <section class="block">
      <header class="block-head">
        <h3>Delivery time</h3>
        <span class="quiet">
          Accepted to delivered, {times.length === 1 ? 'last message' : `last ${times.length || 40} messages`}
        </span>
      </header>
      {times.length === 0 ? (
        <p class="quiet">No message has been delivered yet.</p>
      ) : (
        <div class="delivery-time">
          <p>
            <strong>{milliseconds(median(times))}</strong>
            <span class="quiet">median</span>
          </p>
          <p>
            <strong>{milliseconds(slow)}</strong>
            <span class="quiet">95th percentile</span>
          </p>
          <span class="spark tall" aria-hidden="true">
            {times.map((ms, place) => (
              <span
                key={place}
                class={ms > slow ? 'slow' : 'plain'}
                style={{ height: `${15 + 85 * Math.sqrt(ms / most)}%` }}
              />
            ))}
          </span>
        </div>
      )}
    </section>
  );
};
