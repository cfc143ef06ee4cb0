// A receipt's score, computed again from what the legs said, their ranks and raw scores. What lies
// between (normalized, contribution, fused, the weights of "auto") is compared, never used.

// Two libraries may round exp() differently in the last bits; nothing else here is rounded by one.
const nearly = (a, b) => Math.abs(a - b) <= 4 * Number.EPSILON * Math.abs(b);

const minMax = ({ score }, { min, max }) => (max - min <= 0 ? 1 : (score - min) / (max - min));
const sigmoid = ({ score }, { mean, std }) => (std <= 0 ? 0.5 : 1 / (1 + Math.exp(-((score - mean) / std))));
const NORMALIZED = { weighted_sum: minMax, auto: minMax, dbsf: sigmoid };

const PARTS = {
  none: ({ score }) => score,
  rrf: ({ weight, rank }, { k }) => weight / (k + rank),
  multi_hop: ({ weight, score }) => (score < 0 ? score / weight : score * weight),
};

// What these read, in words.
const READ = {
  none: ["scores"],
  rrf: ["ranks", "weights"],
  multi_hop: ["scores", "weights"],
  weighted_sum: ["scores", "weights", "ranges"],
  dbsf: ["scores", "means", "deviations"],
  auto: ["scores", "ranges"],
};

const STAGES = {
  multiply: (score, { value }) => score * value,
  divide: (score, { value }) => score / value,
  add: (score, { value }) => score + value,
  keep: (score) => score,
};

// What a stage that replaces the score says of where the new one comes from.
const REPLACED = {
  mmr: ({ lambda, relevance, similarity }) => lambda * relevance - (1 - lambda) * similarity,
  rank: ({ bias, contributions, prior }) => Object.values(contributions).reduce((sum, one) => sum + one, bias) + prior,
};

class Proof {
  same = true;
  rounded = false; // but for exp()
  read = new Set(); // what it was computed from
  given = new Set(); // what could not be computed here

  expect(computed, told) {
    if (computed !== told) this.same = false;
    return computed;
  }

  part(source, fusion) {
    const { method, lists } = fusion;
    for (const one of READ[method]) this.read.add(one);
    const normalize = NORMALIZED[method];
    if (!normalize) return PARTS[method](source, fusion);
    const value = normalize(source, lists[source.source]);
    if (method === "dbsf" && value !== source.normalized && nearly(value, source.normalized)) {
      this.rounded = true;
      return source.weight * source.normalized;
    }
    return source.weight * this.expect(value, source.normalized);
  }

  // The weights of "auto", from its signals.
  choice({ base, signals, lowest, highest, dense_weight }, sources) {
    const moved = signals.reduce((sum, { coefficient, value, usual }) => sum + coefficient * (value - usual), base);
    const dense = this.expect(Math.min(highest, Math.max(lowest, moved)), dense_weight);
    this.read.add("signals");
    for (const { source, weight } of sources) this.expect(source === "dense" ? dense : 1 - dense, weight);
  }

  fused({ fusion, sources, fused }) {
    const { method, preset } = fusion;
    if (preset || !(NORMALIZED[method] || PARTS[method])) {
      this.given.add(`the sum, by the ${method} of ${preset ?? "the server"}`);
      return fused;
    }
    const parts = sources.map((source) => {
      if (source.receipt) this.expect(this.score(source.receipt), source.score);
      return this.expect(this.part(source, fusion), source.contribution);
    });
    if (fusion.choice) this.choice(fusion.choice, sources);
    else if (method === "auto") this.read.add("weights");
    const sum = parts.reduce((total, part) => total + part, 0);
    return this.expect(method === "dbsf" ? sum / parts.length : sum, fused);
  }

  replaced({ stage, value, detail }) {
    const made = detail && REPLACED[stage]?.(detail);
    this.given.add(Number.isFinite(made) ? `the parts that the stage ${stage} adds up` : `what the stage ${stage} says`);
    if (Number.isFinite(made)) return this.expect(made, value);
    return value;
  }

  score(receipt) {
    const score = receipt.stages.reduce(
      (before, stage) => this.expect(STAGES[stage.operation]?.(before, stage) ?? this.replaced(stage), stage.score),
      this.fused(receipt),
    );
    return this.expect(score, receipt.score);
  }
}

// {same, rounded, read, given}
export function prove(receipt) {
  const proof = new Proof();
  proof.score(receipt);
  return proof;
}

const joined = (words) => [words.slice(0, -1).join(", "), words.at(-1)].filter(Boolean).join(" and ");

export function inWords({ same, rounded, read, given }) {
  const from = `Computed here from the legs’ ${joined([...read])}`;
  if (!same) return `✗ ${from}: a different number`;
  if (given.size) return `Taken as given: ${[...given].join("; ")}. All else, computed here: the same bits`;
  return `✓ ${from}: the same bits${rounded ? ", but for the last of exp()" : ""}`;
}
