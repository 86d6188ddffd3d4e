"""The changes that trainc.yaml makes to documents: environments, patches, images, names, labels and annotations."""
