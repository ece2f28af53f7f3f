# The image of a cluster's machines, for rayjob.yaml and others: Ray 2.60.0, Python 3.11, and rolecast
# with the versions of constraints.txt. From the repository's root:
#   docker build -f deploy/cluster.Dockerfile -t registry.example.com/rolecast:0.2.0 .
#   docker push registry.example.com/rolecast:0.2.0
# Commands run as the user `ray` of Ray's image, number 1000.
FROM rayproject/ray:2.60.0-py311-cpu

COPY --chown=1000:100 . /home/ray/source
RUN pip install --no-cache-dir --constraint /home/ray/source/constraints.txt /home/ray/source \
    && rm -r /home/ray/source

# A worker is one process on one core.
ENV OMP_NUM_THREADS=1
USER 1000
WORKDIR /home/ray
CMD ["rolecast", "--help"]
