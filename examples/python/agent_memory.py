"""What an agent remembers: facts with dates, recalled by meaning, newer ones first."""

import datetime
import os

import braid

NOW = datetime.datetime.now(datetime.timezone.utc)


class Memory:
    def __init__(self, db: braid.Database, user: str) -> None:
        self.facts = db["memory"].namespace(user)  # each user's memory has its own statistics

    def remember(self, fact: str, *, days_ago: int = 0, **metadata: object) -> None:
        when = NOW - datetime.timedelta(days=days_ago)
        self.facts.add({"text": fact, "created_at": when.isoformat(), "metadata": metadata})

    def recall(self, question: str, top_k: int = 3) -> list[str]:
        # By scores, not by ranks: a fact that fits must outweigh one that is only newer.
        answer = self.facts.retrieve(
            question, top_k=top_k, fusion="weighted_sum",
            stages=[{"decay_by_age": {"half_life_days": 365}}],
        )
        return [hit.content for hit in answer]

    def forget(self, **metadata: object) -> int:
        return self.facts.delete(filter=metadata).written


def main() -> None:
    with braid.open(None, embedder=os.environ.get("BRAID_EMBEDDER", "bge-small-en-v1.5")) as db:
        ada = Memory(db, "ada")
        ada.remember("Ada lives in Turin.", days_ago=400, topic="home")
        ada.remember("Ada lives in Lisbon now.", days_ago=3, topic="home")
        ada.remember("Ada is allergic to peanuts.", days_ago=90, topic="health")
        print(ada.recall("Where does Ada live?", top_k=2))
        print(ada.recall("What is Ada allergic to, peanuts?", top_k=1))
        print(ada.forget(topic="health"), "forgotten")


if __name__ == "__main__":
    main()
