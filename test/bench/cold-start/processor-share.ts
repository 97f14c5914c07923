/**
 * Limits processes to a share of a processor, as Lambda limits invocations: by a quota of the kernel (cgroups) if that is
 * permitted, else by stopping and continuing the process. `test/bench/cold-start.ts` measures the precision of both.
 */
import { existsSync, mkdirSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Milliseconds of a period: a process runs for its share of each. */
const PERIOD = 20;

export interface ProcessorShare {
  /** How processes are limited. */
  by: 'quota' | 'signals';
  /** Adds a process, which is not limited at first. */
  add: (pid: number) => void;
  /** Limits the process that was added last. `undefined` ends the limit. */
  limit: (pid: number, share: number | undefined) => void;
  close: () => void;
}

/** A control group with the processor controller, of either version; undefined if none is permitted. */
const openGroup = () => {
  for (const root of ['/sys/fs/cgroup', '/sys/fs/cgroup/cpu']) {
    const group = join(root, `cold-start-${process.pid}`);
    try {
      mkdirSync(group);
      const [isV2, isV1] = ['cpu.max', 'cpu.cfs_quota_us'].map((file) => existsSync(join(group, file)));
      if (isV2 || isV1) return { group, isV2 };
      rmdirSync(group);
    } catch {
      // Not permitted, or not there.
    }
  }
  return undefined;
};

const byQuota = (group: string, isV2: boolean): ProcessorShare => {
  const set = (file: string, value: string | number) => writeFileSync(join(group, file), String(value));
  const period = PERIOD * 1_000;
  // Other work on the machine should not take the processor from the group.
  set(isV2 ? 'cpu.weight' : 'cpu.shares', isV2 ? 10_000 : 262_144);
  if (!isV2) set('cpu.cfs_period_us', period);
  const limit = (_pid: number, share: number | undefined): void => {
    const quota = share === undefined ? undefined : Math.round(share * period);
    if (isV2) set('cpu.max', `${quota ?? 'max'} ${period}`);
    else set('cpu.cfs_quota_us', quota ?? -1);
  };
  return {
    by: 'quota',
    add: (pid) => {
      limit(pid, undefined);
      set('cgroup.procs', pid);
    },
    limit,
    close: () => rmdirSync(group),
  };
};

const bySignals = (): ProcessorShare => {
  let timer: NodeJS.Timeout | undefined;
  const end = () => clearTimeout(timer);
  const send = (pid: number, signal: 'SIGSTOP' | 'SIGCONT'): void => {
    try {
      process.kill(pid, signal);
    } catch {
      // It has ended.
      end();
    }
  };
  return {
    by: 'signals',
    add: end,
    limit: (pid, share) => {
      end();
      if (share === undefined || share >= 1) return send(pid, 'SIGCONT');
      const run = () => {
        timer = setTimeout(stop, PERIOD * share);
        send(pid, 'SIGCONT');
      };
      const stop = () => {
        timer = setTimeout(run, PERIOD * (1 - share));
        send(pid, 'SIGSTOP');
      };
      run();
    },
    close: end,
  };
};

export const openProcessorShare = (): ProcessorShare => {
  const found = openGroup();
  return found === undefined ? bySignals() : byQuota(found.group, found.isV2 === true);
};
